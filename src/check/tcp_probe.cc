// SPDX-License-Identifier: Apache-2.0
#include "check/tcp_probe.h"

#include <poll.h>

#include <cerrno>

#include "check/responder.h"

namespace topoguard::check {
namespace {

Reach of_error(int error, bool connected) {
  if (connected) return Reach::broken;
  if (error == ECONNREFUSED || error == ECONNRESET) return Reach::refused;
  return error == ETIMEDOUT ? Reach::silent : Reach::unreachable;
}

}  // namespace

TcpProbe::TcpProbe(Loop& loop, const Offer& from, const Offer& to, const std::string& key, Probe& probe,
                   std::function<void()> done)
    : loop_(loop), probe_(probe), done_(std::move(done)), out_(key + std::string(kBulk, '\0')) {
  const Target target{to.address, to.tcp_port, from.ifindex};
  if (from.use == Use::socket) {
    const auto usual = usual_source(target);
    if (usual && *usual != from.address) probe_.usual_source = usual;
  }
  socket_ = connect_tcp(&from.address, from.use == Use::rdma ? from.netdev : "", target);
  if (!socket_.fd) {
    // Out of its constructor: the owner does not hold this yet.
    loop_.at(Clock::now(), [this] { finish(of_error(socket_.error, false), socket_.error); });
    return;
  }
  loop_.watch(socket_.fd.get(), POLLOUT, [this](short events) { handle(events); });
}

TcpProbe::~TcpProbe() {
  if (socket_.fd) loop_.forget(socket_.fd.get());
}

void TcpProbe::finish(Reach reach, int error) {
  if (finished_) return;
  finished_ = true;
  probe_.tcp = reach;
  probe_.error = error;
  if (socket_.fd) loop_.forget(socket_.fd.get());
  socket_.fd = Fd();
  done_();
}

void TcpProbe::stop() { finish(connected_ ? Reach::stalled : Reach::silent, ETIMEDOUT); }

void TcpProbe::connected() {
  if (const int error = connect_result(socket_.fd.get()); error != 0) return finish(of_error(error, false), error);
  connected_ = true;
  probe_.connect_us = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start_).count();
}

void TcpProbe::send() {
  while (!out_.empty()) {
    const ssize_t sent = ::send(socket_.fd.get(), out_.data(), out_.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) break;
    if (sent < 0) return finish(Reach::broken, errno);
    out_.erase(0, static_cast<std::size_t>(sent));
  }
  loop_.change(socket_.fd.get(), static_cast<short>(out_.empty() ? POLLIN : POLLIN | POLLOUT));
}

void TcpProbe::handle(short events) {
  if (!connected_) connected();
  if (!finished_ && (events & POLLOUT) != 0) send();
  if (finished_ || (events & (POLLIN | POLLERR | POLLHUP)) == 0) return;
  char buffer[64];
  const ssize_t got = ::recv(socket_.fd.get(), buffer, sizeof buffer, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return finish(Reach::broken, got < 0 ? errno : ECONNRESET);
  in_.append(buffer, static_cast<std::size_t>(got));
  if (in_ == kOk) return finish(Reach::ok, 0);
  if (in_.size() >= kOk.size()) finish(Reach::broken, EPROTO);
}

}  // namespace topoguard::check
