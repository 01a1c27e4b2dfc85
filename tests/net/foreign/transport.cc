// SPDX-License-Identifier: Apache-2.0
#include "transport.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>

namespace foreign {
namespace {

struct Place {
  Device device;
  sockaddr_in address{};
};

const Place& place() {
  static const Place found = [] {
    Place place;
    place.device = {"lo", true};
    place.address.sin_family = AF_INET;
    place.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0) return place;
    for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
      if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != AF_INET) continue;
      if ((entry->ifa_flags & IFF_LOOPBACK) != 0 || (entry->ifa_flags & IFF_RUNNING) == 0) continue;
      place.device.name = entry->ifa_name;
      std::memcpy(&place.address, entry->ifa_addr, sizeof place.address);
      break;
    }
    freeifaddrs(list);
    return place;
  }();
  return found;
}

}  // namespace

struct Request {
  Comm* comm;
  bool sends;
  char* data;
  std::uint64_t size;     // of the message; of the buffer until the header is there
  std::size_t moved = 0;  // header bytes included
  bool done = false;
};

class Comm {
 public:
  explicit Comm(int fd) : fd(fd) {}
  ~Comm() { close(fd); }
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  // As far as it goes without waiting. False: broken.
  bool progress() {
    while (!queue.empty()) {
      Request& request = *queue.front();
      if (!advance(request)) return false;
      if (!request.done) return true;
      queue.pop_front();
    }
    return true;
  }

  const int fd;
  std::deque<Request*> queue;

 private:
  static constexpr std::size_t kHeader = sizeof(std::uint64_t);

  bool advance(Request& request) {
    for (;;) {
      const bool in_header = request.moved < kHeader;
      if (!in_header && request.moved == kHeader + request.size) {
        request.done = true;
        return true;
      }
      char* at = in_header ? reinterpret_cast<char*>(request.sends ? &request.size : &announced_) + request.moved
                           : request.data + (request.moved - kHeader);
      const std::size_t left = in_header ? kHeader - request.moved : kHeader + request.size - request.moved;
      const ssize_t moved =
          request.sends ? send(fd, at, left, MSG_DONTWAIT | MSG_NOSIGNAL) : recv(fd, at, left, MSG_DONTWAIT);
      if (moved < 0 && (errno == EAGAIN || errno == EINTR)) return true;
      if (moved <= 0) return false;
      request.moved += static_cast<std::size_t>(moved);
      if (!request.sends && in_header && request.moved == kHeader) {
        if (announced_ > request.size) return false;  // the message is longer than the buffer
        request.size = announced_;
      }
    }
  }

  std::uint64_t announced_ = 0;
};

Device device() { return place().device; }

bool listen_at(void* handle, Comm** listener) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  auto comm = std::make_unique<Comm>(fd);
  sockaddr_in address = place().address;
  address.sin_port = 0;
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(fd, generic, length) != 0 || listen(fd, 16) != 0 || getsockname(fd, generic, &length) != 0) return false;
  std::memcpy(handle, &address, sizeof address);
  *listener = comm.release();
  return true;
}

bool connect_to(const void* handle, Comm** comm) {
  sockaddr_in address;
  std::memcpy(&address, handle, sizeof address);
  auto fresh = std::make_unique<Comm>(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(fresh->fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return false;
  *comm = fresh.release();
  return true;
}

bool accept_from(Comm* listener, Comm** comm) {
  *comm = nullptr;
  const int fd = accept4(listener->fd, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) return errno == EAGAIN || errno == EINTR;
  *comm = new Comm(fd);
  return true;
}

void close_comm(Comm* comm) { delete comm; }

Request* start(Comm* comm, bool sends, void* data, std::size_t size) {
  auto* request = new Request{comm, sends, static_cast<char*>(data), size};
  comm->queue.push_back(request);
  return request;
}

bool poll_request(Request* request, bool* done, std::size_t* size) {
  *done = false;
  if (!request->done && !request->comm->progress()) return false;
  if (!request->done) return true;
  *done = true;
  *size = request->size;
  delete request;
  return true;
}

}  // namespace foreign
