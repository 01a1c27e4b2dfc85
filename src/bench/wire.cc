// SPDX-License-Identifier: Apache-2.0
#include "bench/wire.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "bench/half.h"
#include "check/net.h"
#include "check/resolve.h"

namespace topoguard::bench {
namespace {

struct Place {
  std::string host;
  std::uint16_t port = 0;
};

// "node7:29600", "[fd00::7]:29600", ":29600"
Place parse(const std::string& text) {
  const auto colon = text.rfind(':');
  const std::string digits = colon == std::string::npos ? "" : text.substr(colon + 1);
  const bool number =
      !digits.empty() && digits.size() < 6 && digits.find_first_not_of("0123456789") == std::string::npos;
  const int port = number ? std::stoi(digits) : 0;
  if (port < 1 || port > 65535) throw std::runtime_error("'" + text + "' is not HOST:PORT");
  std::string host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return {host, static_cast<std::uint16_t>(port)};
}

check::Target target_of(const Place& place) {
  const auto found = check::resolve(place.host);
  if (found.empty()) throw std::runtime_error("no address is known of '" + place.host + "'");
  return {found.front(), place.port, 0};
}

[[noreturn]] void fail(const std::string& what, int error) {
  throw std::runtime_error(what + ": " + std::strerror(error));
}

bool wait_for(int fd, short events, double patience) {
  pollfd entry{fd, events, 0};
  const double end = now() + patience;
  while (true) {
    const double left = end - now();
    const int found = ::poll(&entry, 1, left <= 0 ? 0 : static_cast<int>(left * 1000) + 1);
    if (found > 0) return true;
    if (found == 0 && left <= 0) return false;
    if (found < 0 && errno != EINTR) fail("poll", errno);
  }
}

// A barrier is a message of a few bytes.
host::Fd prompt(host::Fd fd) {
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

}  // namespace

Wire Wire::listen(const std::string& where, double patience) {
  const Place place = parse(where);
  check::Socket socket =
      place.host.empty() ? check::listen_everywhere(place.port) : check::listen_tcp(target_of(place), "");
  if (!socket.fd) fail("cannot listen on " + where, socket.error);
  if (!wait_for(socket.fd.get(), POLLIN, patience)) throw std::runtime_error("nobody connected to " + where);
  check::Target from;
  check::Socket accepted = check::accept_one(socket.fd.get(), &from);
  if (!accepted.fd) fail("cannot accept on " + where, accepted.error);
  return Wire(prompt(std::move(accepted.fd)));
}

Wire Wire::connect(const std::string& where, double patience) {
  const check::Target target = target_of(parse(where));
  const double end = now() + patience;
  while (true) {
    check::Socket socket = check::connect_tcp(nullptr, "", target);
    int error = socket.error;
    if (socket.fd) {
      error = wait_for(socket.fd.get(), POLLOUT, end - now()) ? check::connect_result(socket.fd.get()) : ETIMEDOUT;
      if (error == 0) return Wire(prompt(std::move(socket.fd)));
    }
    if (now() > end) fail("cannot connect to " + where, error);
    ::usleep(50'000);
  }
}

void Wire::send(const nlohmann::json& message) {
  const std::string bytes = check::frame(message.dump());
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t moved = ::send(fd_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (moved > 0)
      sent += static_cast<std::size_t>(moved);
    else if (errno == EAGAIN)
      wait_for(fd_.get(), POLLOUT, 10);
    else if (errno != EINTR)
      fail("the other side is gone", errno);
  }
}

nlohmann::json Wire::receive(double patience) {
  const double end = now() + patience;
  while (true) {
    if (const auto body = reader_.next()) {
      auto document = nlohmann::json::parse(*body, nullptr, false);
      if (!document.is_object()) throw std::runtime_error("the other side is not topoguard bench");
      if (const auto error = document.find("error"); error != document.end() && error->is_string())
        throw std::runtime_error("the other side: " + error->get<std::string>());
      return document;
    }
    if (reader_.error() != check::FrameError::none) throw std::runtime_error("the other side is not topoguard bench");
    if (!wait_for(fd_.get(), POLLIN, end - now())) throw std::runtime_error("the other side says nothing more");
    char part[65536];
    const ssize_t got = ::recv(fd_.get(), part, sizeof part, 0);
    if (got > 0)
      reader_.add({part, static_cast<std::size_t>(got)});
    else if (got == 0)
      throw std::runtime_error("the other side has gone away");
    else if (errno != EAGAIN && errno != EINTR)
      fail("the other side is gone", errno);
  }
}

}  // namespace topoguard::bench
