// SPDX-License-Identifier: Apache-2.0
#include "check/net.h"

#include <arpa/inet.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace topoguard::check {
namespace {

struct Name {
  sockaddr_storage storage{};
  socklen_t length = 0;
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

Name name_of(const Target& target) {
  Name name;
  if (target.address.family == Family::inet) {
    auto* in = reinterpret_cast<sockaddr_in*>(&name.storage);
    in->sin_family = AF_INET;
    in->sin_port = htons(target.port);
    std::memcpy(&in->sin_addr, target.address.bytes.data(), 4);
    name.length = sizeof *in;
  } else {
    auto* in = reinterpret_cast<sockaddr_in6*>(&name.storage);
    in->sin6_family = AF_INET6;
    in->sin6_port = htons(target.port);
    std::memcpy(&in->sin6_addr, target.address.bytes.data(), 16);
    if (target.address.is_link_local()) in->sin6_scope_id = static_cast<std::uint32_t>(target.scope);
    name.length = sizeof *in;
  }
  return name;
}

std::optional<Target> target_of(const sockaddr_storage& storage) {
  Target out;
  if (storage.ss_family == AF_INET) {
    const auto* in = reinterpret_cast<const sockaddr_in*>(&storage);
    std::memcpy(out.address.bytes.data(), &in->sin_addr, 4);
    out.port = ntohs(in->sin_port);
  } else if (storage.ss_family == AF_INET6) {
    const auto* in = reinterpret_cast<const sockaddr_in6*>(&storage);
    Gid gid;
    std::memcpy(gid.bytes.data(), &in->sin6_addr, 16);
    out.address = gid.address();  // IPv4-mapped ones are IPv4
    out.port = ntohs(in->sin6_port);
  } else {
    return std::nullopt;
  }
  return out;
}

std::optional<Target> own_name(int fd) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &length) != 0) return std::nullopt;
  return target_of(storage);
}

Socket failed() { return {Fd(), errno, 0}; }

Socket open_socket(Family family, int type) {
  Socket out;
  out.fd = Fd(::socket(family == Family::inet ? AF_INET : AF_INET6, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!out.fd) return failed();
  return out;
}

void keep_to(int fd, const std::string& device) {
  if (!device.empty())
    ::setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device.c_str(), static_cast<socklen_t>(device.size() + 1));
}

void set(int fd, int level, int option, int value) { ::setsockopt(fd, level, option, &value, sizeof value); }

Socket bound(Family family, int type, const Target& on, const std::string& device) {
  Socket out = open_socket(family, type);
  if (!out.fd) return out;
  keep_to(out.fd.get(), device);
  if (type == SOCK_STREAM) set(out.fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  Name name = name_of(on);
  if (::bind(out.fd.get(), name.get(), name.length) != 0) return failed();
  if (type == SOCK_STREAM && ::listen(out.fd.get(), SOMAXCONN) != 0) return failed();
  if (const auto own = own_name(out.fd.get())) out.port = own->port;
  return out;
}

}  // namespace

std::string Target::text() const {
  const std::string host = address.family == Family::inet ? address.text() : "[" + address.text() + "]";
  return host + ":" + std::to_string(port);
}

Socket listen_tcp(const Target& on, const std::string& device) {
  return bound(on.address.family, SOCK_STREAM, on, device);
}

Socket bind_udp(const Target& on, const std::string& device) {
  return bound(on.address.family, SOCK_DGRAM, on, device);
}

Socket listen_everywhere(std::uint16_t port) {
  Target any;
  any.port = port;
  any.address.family = Family::inet6;
  Socket both = open_socket(Family::inet6, SOCK_STREAM);
  if (both.fd) {
    set(both.fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
    set(both.fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    Name name = name_of(any);
    if (::bind(both.fd.get(), name.get(), name.length) == 0 && ::listen(both.fd.get(), SOMAXCONN) == 0) {
      both.port = port;
      return both;
    }
    if (errno == EADDRINUSE) return failed();
  }
  any.address.family = Family::inet;  // a host without IPv6
  return bound(Family::inet, SOCK_STREAM, any, "");
}

Socket connect_tcp(const IpAddress* from, const std::string& device, const Target& to) {
  Socket out = open_socket(to.address.family, SOCK_STREAM);
  if (!out.fd) return out;
  keep_to(out.fd.get(), device);
  if (from != nullptr) {
    set(out.fd.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
    Name name = name_of({*from, 0, to.scope});
    if (::bind(out.fd.get(), name.get(), name.length) != 0) return failed();
  }
  Name name = name_of(to);
  if (::connect(out.fd.get(), name.get(), name.length) != 0 && errno != EINPROGRESS) return failed();
  return out;
}

int connect_result(int fd) {
  int error = 0;
  socklen_t length = sizeof error;
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

Socket accept_one(int listener, Target* from) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  Socket out;
  out.fd = Fd(::accept4(listener, reinterpret_cast<sockaddr*>(&storage), &length, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!out.fd) return failed();
  if (from != nullptr) *from = target_of(storage).value_or(Target{});
  return out;
}

int connect_udp(int fd, const Target& to) {
  Name name = name_of(to);
  return ::connect(fd, name.get(), name.length) == 0 ? 0 : errno;
}

bool probe_without_fragments(int fd, Family family) {
  const bool v4 = family == Family::inet;
  const int level = v4 ? IPPROTO_IP : IPPROTO_IPV6;
  const int mode = v4 ? IP_PMTUDISC_PROBE : IPV6_PMTUDISC_PROBE;  // NOLINT(bugprone-branch-clone): equal by chance
  set(fd, level, v4 ? IP_RECVERR : IPV6_RECVERR, 1);
  return ::setsockopt(fd, level, v4 ? IP_MTU_DISCOVER : IPV6_MTU_DISCOVER, &mode, sizeof mode) == 0;
}

std::optional<QueuedError> next_error(int fd) {
  char data[64], control[512];
  sockaddr_storage to{};
  iovec part{data, sizeof data};
  msghdr message{};
  message.msg_name = &to;
  message.msg_namelen = sizeof to;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (::recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return std::nullopt;
  QueuedError out;
  for (cmsghdr* at = CMSG_FIRSTHDR(&message); at != nullptr; at = CMSG_NXTHDR(&message, at)) {
    const bool ours = (at->cmsg_level == IPPROTO_IP && at->cmsg_type == IP_RECVERR) ||
                      (at->cmsg_level == IPPROTO_IPV6 && at->cmsg_type == IPV6_RECVERR);
    if (!ours || at->cmsg_len < CMSG_LEN(sizeof(sock_extended_err))) continue;
    sock_extended_err seen{};
    std::memcpy(&seen, CMSG_DATA(at), sizeof seen);
    out.error = static_cast<int>(seen.ee_errno);
    if (seen.ee_errno == EMSGSIZE) out.mtu = static_cast<int>(std::min<std::uint32_t>(seen.ee_info, 1u << 20));
    sockaddr_storage sender{};
    std::memcpy(&sender, CMSG_DATA(at) + sizeof seen,
                std::min<std::size_t>(at->cmsg_len - CMSG_LEN(sizeof seen), sizeof sender));
    if (seen.ee_origin == SO_EE_ORIGIN_ICMP || seen.ee_origin == SO_EE_ORIGIN_ICMP6)
      if (const auto who = target_of(sender)) out.sender = who->address;
  }
  return out;
}

std::optional<IpAddress> usual_source(const Target& to) {
  const Socket socket = open_socket(to.address.family, SOCK_DGRAM);
  if (!socket.fd || connect_udp(socket.fd.get(), to) != 0) return std::nullopt;
  const auto own = own_name(socket.fd.get());
  if (!own) return std::nullopt;
  return own->address;
}

int raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 256;
  const rlim_t enough = std::min<rlim_t>(limit.rlim_max, 65536);
  if (limit.rlim_cur < enough) {
    limit.rlim_cur = enough;
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) ::getrlimit(RLIMIT_NOFILE, &limit);
  }
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 65536));
}

}  // namespace topoguard::check
