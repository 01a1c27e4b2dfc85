// SPDX-License-Identifier: Apache-2.0
// NCCL's net API as its proxy uses it, for any table of v6 to v12 (NCCL 2.18 to 2.32): nothing blocks, everything is
// polled. A call that fails throws std::runtime_error with the call's name and what the result means. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nccl/common.h"

namespace topoguard::bench {

/// What a listener gives to the one that connects, by whatever way.
using Handle = std::array<char, TGNCCL_NET_HANDLE_MAXSIZE>;

struct NetDevice {
  std::string name;
  int speed = 0;            ///< Mbit/s, as the transport says
  bool takes_cuda = false;  ///< CUDA memory can be registered
};

/// One direction of a connection.
class Connection {
 public:
  virtual ~Connection() = default;
  /// `type`: TGNCCL_PTR_HOST or TGNCCL_PTR_CUDA. Until forget() or the end of the connection.
  virtual void* remember(char* data, std::size_t size, int type) = 0;
  virtual void forget(void* memory) = 0;
  /// Begins to send or to receive. Null: not now, ask again.
  virtual void* start(char* data, std::size_t size, void* memory) = 0;
  /// The bytes that were moved, once they are. Ask for the oldest request first: stock Socket loses its framing else.
  virtual std::optional<std::size_t> finished(void* request) = 0;
};

/// Polls until there is a connection.
class Pending {
 public:
  virtual ~Pending() = default;
  virtual std::unique_ptr<Connection> poll() = 0;
};

class Listener : public Pending {
 public:
  virtual const Handle& handle() const = 0;
};

class Net {
 public:
  virtual ~Net() = default;
  virtual int api() const = 0;  ///< 6 to 12
  virtual std::string name() const = 0;
  virtual const std::vector<NetDevice>& devices() const = 0;
  virtual std::unique_ptr<Listener> listen(int device) = 0;
  virtual std::unique_ptr<Pending> connect(int device, const Handle& handle) = 0;
  /// The functions behind isend, irecv, iflush and test: the same pointers are the same code.
  virtual std::array<const void*, 4> data_slots() const = 0;
};

/// Initialises `table`, which is an ncclNet of that version, and keeps it until the end. `logger`: NCCL's own.
std::unique_ptr<Net> open_table(void* table, int api, tgnccl_logger_t logger);

}  // namespace topoguard::bench
