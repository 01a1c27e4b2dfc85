// SPDX-License-Identifier: Apache-2.0
#include "check/responder.h"

#include <netinet/in.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>

namespace topoguard::check {
namespace {

constexpr std::size_t kMostVisitors = 8192;

}  // namespace

void put_number(std::string& out, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((number >> shift) & 0xff);
}

std::uint32_t get_number(std::string_view four_bytes) {
  std::uint32_t value = 0;
  for (const char byte : four_bytes.substr(0, kNumber)) value = (value << 8) | static_cast<unsigned char>(byte);
  return value;
}

Responder::Responder(Loop& loop, std::vector<Offer>& offers, std::string key) : loop_(loop), key_(std::move(key)) {
  for (Offer& offer : offers) open(offer);
}

Responder::~Responder() {
  for (const Socket& socket : sockets_) loop_.forget(socket.fd.get());
  for (const Visitor& visitor : visitors_) loop_.forget(visitor.socket.fd.get());
}

void Responder::open(Offer& offer) {
  // RoCE leaves by the GID's own netdev whatever the routes say; sockets go as the routes say.
  const std::string device = offer.use == Use::rdma ? offer.netdev : "";
  const Target on{offer.address, 0, offer.ifindex};
  Socket tcp = listen_tcp(on, device), udp = bind_udp(on, device);
  for (const Socket* socket : {&tcp, &udp})
    if (!socket->fd)
      problems_.push_back(offer.text() + ": no socket can be bound to it: " + host::error_text(socket->error));
  offer.tcp_port = tcp.port;
  offer.udp_port = udp.port;
  if (tcp.fd) {
    const int fd = tcp.fd.get();
    loop_.watch(fd, POLLIN, [this, fd](short) { accept_from(fd); });
    sockets_.push_back(std::move(tcp));
  }
  if (udp.fd) {
    const int fd = udp.fd.get();
    loop_.watch(fd, POLLIN, [this, fd](short) { echo(fd); });
    sockets_.push_back(std::move(udp));
  }
}

void Responder::accept_from(int listener) {
  Socket socket = accept_one(listener, nullptr);
  if (!socket.fd || visitors_.size() >= kMostVisitors) return;
  const int fd = socket.fd.get();
  visitors_.push_back({std::move(socket), 0, {}});
  const auto visitor = std::prev(visitors_.end());
  loop_.watch(fd, POLLIN, [this, visitor](short) { serve(visitor); });
}

void Responder::drop(std::list<Visitor>::iterator visitor) {
  loop_.forget(visitor->socket.fd.get());
  visitors_.erase(visitor);
}

void Responder::serve(std::list<Visitor>::iterator visitor) {
  char buffer[16384];
  const ssize_t got = ::recv(visitor->socket.fd.get(), buffer, sizeof buffer, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return drop(visitor);
  const auto count = static_cast<std::size_t>(got);
  if (visitor->key.size() < key_.size())
    visitor->key.append(buffer, std::min(count, key_.size() - visitor->key.size()));
  if (visitor->key != std::string_view(key_).substr(0, visitor->key.size())) return drop(visitor);
  visitor->seen += count;
  if (visitor->seen > key_.size() + kBulk) return drop(visitor);
  if (visitor->seen == key_.size() + kBulk)
    if (::send(visitor->socket.fd.get(), kOk.data(), kOk.size(), MSG_NOSIGNAL) < 0) drop(visitor);
}

void Responder::echo(int fd) {
  for (int i = 0; i < 64; ++i) {
    static thread_local char buffer[1 << 16];
    sockaddr_storage from{};
    socklen_t length = sizeof from;
    const ssize_t got = ::recvfrom(fd, buffer, sizeof buffer, 0, reinterpret_cast<sockaddr*>(&from), &length);
    if (got < 0) return;
    const std::string_view seen(buffer, static_cast<std::size_t>(got));
    if (seen.size() < key_.size() + kNumber || seen.substr(0, key_.size()) != key_) continue;
    std::string answer(kOk);
    answer.append(seen.substr(key_.size(), kNumber));
    put_number(answer, static_cast<std::uint32_t>(seen.size()));
    ::sendto(fd, answer.data(), answer.size(), MSG_NOSIGNAL, reinterpret_cast<sockaddr*>(&from), length);
  }
}

}  // namespace topoguard::check
