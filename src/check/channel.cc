// SPDX-License-Identifier: Apache-2.0
#include "check/channel.h"

#include <poll.h>

#include <cerrno>

namespace topoguard::check {

Channel::Channel(Loop& loop, Socket socket, Target peer, std::size_t limit, OnMessage on_message, OnEnding on_ending)
    : loop_(loop),
      socket_(std::move(socket)),
      peer_(peer),
      limit_(limit),
      reader_(limit),
      on_message_(std::move(on_message)),
      on_ending_(std::move(on_ending)) {
  loop_.watch(socket_.fd.get(), POLLIN, [this](short events) { handle(events); });
}

Channel::~Channel() { close(); }

void Channel::close() {
  if (!open()) return;
  loop_.forget(socket_.fd.get());
  socket_.fd = Fd();
}

void Channel::allow(std::size_t bytes) {
  limit_ = bytes;
  reader_.allow(bytes);
}

// By value: close() may end what a reference would lead to.
void Channel::end(Ending ending) {  // NOLINT(performance-unnecessary-value-param)
  close();
  on_ending_(ending);
}

void Channel::send(const Message& message) {
  if (!open()) return;
  out_ += frame(write_message(message));
  flush();
}

void Channel::flush() {
  while (open() && !out_.empty()) {
    const ssize_t sent = ::send(socket_.fd.get(), out_.data(), out_.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) break;  // an end shows when reading
    out_.erase(0, static_cast<std::size_t>(sent));
  }
  if (open()) loop_.change(socket_.fd.get(), static_cast<short>(out_.empty() ? POLLIN : POLLIN | POLLOUT));
}

void Channel::handle(short events) {
  if ((events & POLLOUT) != 0) flush();
  if (open() && (events & (POLLIN | POLLERR | POLLHUP)) != 0) receive();
}

void Channel::receive() {
  char buffer[16384];
  const ssize_t got = ::recv(socket_.fd.get(), buffer, sizeof buffer, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got < 0) return end({Ending::Why::closed, 0, host::error_text(errno)});
  if (got == 0) return end({Ending::Why::closed, 0, "the connection was closed"});
  reader_.add({buffer, static_cast<std::size_t>(got)});
  while (auto text = reader_.next()) {
    ReadMessage read = read_message(*text, limit_);
    if (!read.message) return end({Ending::Why::malformed, 0, read.error});
    on_message_(*read.message);
    if (!open()) return;
  }
  switch (reader_.error()) {
    case FrameError::none:
      return;
    case FrameError::other_version:
      // So that the other side sees our version, too.
      send(Refusal{"this is version " + std::to_string(kProtocol) + " of the check's protocol"});
      return end({Ending::Why::other_version, reader_.version(), "another version of the protocol"});
    case FrameError::too_long:
      return end({Ending::Why::malformed, 0, "a message that is too long"});
    case FrameError::stranger:
      return end({Ending::Why::stranger, 0, "not a topoguard check"});
  }
}

}  // namespace topoguard::check
