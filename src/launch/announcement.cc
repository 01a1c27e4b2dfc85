// SPDX-License-Identifier: Apache-2.0
#include "launch/announcement.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "host/file.h"

namespace topoguard {
namespace {

constexpr std::size_t kMagic = 8;

union SocketAddress {
  sockaddr any;
  sockaddr_in inet;
  sockaddr_in6 inet6;
};

const Link* owner_of(const IpAddress& address, const HostSnapshot& host) {
  for (const Link& link : known(host.links))
    for (const LinkAddress& own : link.addr_info)
      if (own.local == address) return &link;
  return nullptr;
}

// Rank 0 may be here: then its own addresses, loopback too, are the right ones to announce.
bool rank0_may_be_here(const AnnouncementFacts& f) {
  if (f.rank == 0) return !f.local_ranks || f.ranks <= *f.local_ranks;  // its peers: all here, for all we know
  if (f.listens_here) return *f.listens_here;
  return !f.local_ranks || f.ranks <= *f.local_ranks;
}

const char* const kRemedy =
    "On rank 0's host, let topoguard act before ncclGetUniqueId (env plugin, LD_PRELOAD or topoguard exec), or set "
    "NCCL_SOCKET_IFNAME there to the interface that the other hosts reach.";

}  // namespace

std::optional<Announcement> read_announcement(const void* id, std::size_t size) {
  SocketAddress address{};
  if (size < kMagic + sizeof address) return std::nullopt;
  std::memcpy(&address, static_cast<const char*>(id) + kMagic, sizeof address);
  Announcement result;
  if (address.any.sa_family == AF_INET) {
    result.address.family = Family::inet;
    std::memcpy(result.address.bytes.data(), &address.inet.sin_addr, 4);
    result.port = ntohs(address.inet.sin_port);
  } else if (address.any.sa_family == AF_INET6) {
    result.address.family = Family::inet6;
    std::memcpy(result.address.bytes.data(), &address.inet6.sin6_addr, 16);
    result.port = ntohs(address.inet6.sin6_port);
    result.scope_id = address.inet6.sin6_scope_id;
  } else {
    return std::nullopt;
  }
  if (result.port == 0 || result.address.is_unspecified()) return std::nullopt;
  return result;
}

std::optional<Finding> judge(const Announcement& announcement, const AnnouncementFacts& facts,
                             const HostSnapshot& host) {
  const std::string address = announcement.address.text();
  if (rank0_may_be_here(facts)) return std::nullopt;
  if (announcement.address.is_loopback())
    return Finding{
        Severity::error, "rank0-loopback", "",
        facts.rank == 0
            ? fmt::format("this is rank 0 and it announced {}, which on the other hosts is their own loopback: "
                          "they will wait without an end",
                          address)
            : fmt::format("rank 0 announced {}, which here is this host's own loopback, and nothing listens "
                          "there: this rank would wait without an end",
                          address),
        kRemedy};
  if (facts.rank == 0) return std::nullopt;
  if (const Link* link = owner_of(announcement.address, host))
    return Finding{Severity::error, "rank0-own-address", link->ifname,
                   fmt::format("rank 0 announced {}, which is this host's own {}{}, and nothing listens on port {} "
                               "there: this rank would connect to itself",
                               address, link->ifname, link->kind ? " (" + *link->kind + ")" : "", announcement.port),
                   kRemedy};
  if (facts.route_error != 0 && !announcement.address.is_link_local())
    return Finding{Severity::error, "rank0-unreachable", "",
                   fmt::format("rank 0 announced {}, and this host has no route to it ({})", address,
                               host::error_text(facts.route_error)),
                   kRemedy};
  return std::nullopt;
}

std::optional<bool> listens_here(const Announcement& announcement, const std::string& proc) {
  const bool inet = announcement.address.family == Family::inet;
  // The kernel prints each 32-bit word of the address as a host number, the port as a number (tcp_ipv4.c, tcp_ipv6.c).
  std::string wanted;
  for (int word = 0; word < (inet ? 1 : 4); ++word) {
    std::uint32_t value = 0;
    std::memcpy(&value, announcement.address.bytes.data() + 4 * word, 4);
    wanted += fmt::format("{:08X}", value);
  }
  const std::string any(wanted.size(), '0');
  const std::string port = fmt::format(":{:04X}", announcement.port);
  // Listening sockets come first; a megabyte holds thousands of them.
  const host::FileText table = host::read_file(proc + (inet ? "/net/tcp" : "/net/tcp6"), 1 << 20);
  if (!table) return std::nullopt;
  for (std::size_t at = table.text.find('\n'); at != std::string::npos; at = table.text.find('\n', at + 1)) {
    char local[40] = {};
    char remote[40] = {};
    unsigned state = 0;
    if (std::sscanf(table.text.c_str() + at + 1, " %*d: %39s %39s %2x", local, remote, &state) != 3) continue;
    if (state != 0x0A) {  // TCP_LISTEN
      if (!table.cut) continue;
      break;
    }
    if (local == wanted + port || local == any + port) return true;
  }
  return false;
}

int route_error(const Announcement& announcement) {
  SocketAddress address{};
  socklen_t length = 0;
  if (announcement.address.family == Family::inet) {
    address.inet.sin_family = AF_INET;
    address.inet.sin_port = htons(static_cast<std::uint16_t>(announcement.port));
    std::memcpy(&address.inet.sin_addr, announcement.address.bytes.data(), 4);
    length = sizeof address.inet;
  } else {
    address.inet6.sin6_family = AF_INET6;
    address.inet6.sin6_port = htons(static_cast<std::uint16_t>(announcement.port));
    std::memcpy(&address.inet6.sin6_addr, announcement.address.bytes.data(), 16);
    length = sizeof address.inet6;
  }
  // connect() of a datagram socket looks the route up and sends nothing (udp(7)).
  const host::Fd socket(::socket(address.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket || connect(socket.get(), &address.any, length) == 0) return 0;
  return errno == ENETUNREACH || errno == EHOSTUNREACH || errno == EACCES || errno == EINVAL ? errno : 0;
}

}  // namespace topoguard
