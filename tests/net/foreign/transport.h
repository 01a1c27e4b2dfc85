// SPDX-License-Identifier: Apache-2.0
//
// A small transport of our own over TCP, for test plugins: connections carry whole messages, in order, polled as NCCL
// polls. One device: the first address that is not loopback's. Calls on one connection come from one thread.
#pragma once

#include <cstddef>
#include <string>

namespace foreign {

class Comm;
struct Request;

struct Device {
  std::string name;  // the interface
  bool found = false;
};
Device device();

// `handle` has 128 bytes. False: errno tells.
bool listen_at(void* handle, Comm** listener);
bool connect_to(const void* handle, Comm** comm);
bool accept_from(Comm* listener, Comm** comm);  // *comm stays null until somebody connects
void close_comm(Comm* comm);

Request* start(Comm* comm, bool sends, void* data, std::size_t size);
// False: the connection is broken. A done request is gone; *size is what was moved.
bool poll_request(Request* request, bool* done, std::size_t* size);

}  // namespace foreign
