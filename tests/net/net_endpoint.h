// SPDX-License-Identifier: Apache-2.0
//
// NCCL's net API driven from outside a communicator: the same table that NCCL would use, stock or a plugin's, in any of
// the versions v6 to v12 (NCCL 2.18 to 2.32). Calls block by polling, as NCCL's proxy does.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "nccl/common.h"
#include "nccl_library.h"

namespace rig {

using Handle = std::string;  // 128 bytes that a listener gives to the one that connects

struct NetDevice {
  std::string name;
  int speed = 0;  // Mbit/s
};

// One direction of one connection; its memory is registered for the connection's life.
class Connection {
 public:
  virtual ~Connection() = default;
  // Sends or receives exactly `size` bytes of buffer(), and waits until that is done.
  virtual void transfer(std::size_t size) = 0;
  virtual char* buffer() = 0;
};

class Listener {
 public:
  virtual ~Listener() = default;
  virtual const Handle& handle() const = 0;
  virtual std::unique_ptr<Connection> accept(std::size_t buffer_size) = 0;
};

class NetEndpoint {
 public:
  virtual ~NetEndpoint() = default;
  virtual std::vector<NetDevice> devices() = 0;
  virtual std::unique_ptr<Listener> listen(int device) = 0;
  virtual std::unique_ptr<Connection> connect(int device, Handle handle, std::size_t buffer_size) = 0;
};

// Initialises a net of `library`'s release. `source`: "Socket" or "IB" for the stock table inside libnccl, else the
// path of a plugin. A call that fails throws std::runtime_error with its name and NCCL's result.
std::unique_ptr<NetEndpoint> open_net(const NcclLibrary& library, const std::string& source);

}  // namespace rig
