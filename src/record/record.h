// SPDX-License-Identifier: Apache-2.0
// What the wrap tells while a job runs. From here it becomes lines for people (NCCL's logger), JSON lines
// (TOPOGUARD_LOG_FILE) and counters (TOPOGUARD_METRICS). Nothing here is called from isend, irecv, iflush or test.
//
// Thread-safety: all functions may be called from any thread; none throws, blocks on a peer or fails the caller.
// Nothing happens where the session is off.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/session.h"
#include "topoguard/decision.h"

namespace topoguard::record {

enum class Side : std::uint8_t { send, recv };  ///< connect() makes the sending side, accept() the receiving one

/// One data connection, as far as it is known when it is reported.
struct Connection {
  std::uint64_t id = 0;  ///< of this process, from next_connection(): tells connections apart in file and counters
  Side side = Side::send;
  std::string transport;           ///< "IB", "Socket", or a foreign plugin's own name
  int device = -1;                 ///< NCCL's number of it
  std::string device_name;         ///< "mlx5_0", "eth0"
  int port = 0;                    ///< an HCA's, from 1; 0 on a netdev
  std::string local;               ///< own GID or address
  std::optional<int> gid_index;    ///< of the decision, RoCE only
  std::string peer;                ///< the peer's GID or address, from its handle or trailer; empty: not known
  std::string peer_detail;         ///< what its trailer says besides: "NCCL 2.28.9, RoCE v2, MTU 4096"
  std::uint64_t communicator = 0;  ///< NCCL's hash of it, from net API v11 on; else 0
  std::optional<int> pointers;     ///< ptrSupport of the device's properties: TGNCCL_PTR_* bits
};

/// A number for Connection::id; from 1, each once per process.
std::uint64_t next_connection() noexcept;

/// A communicator's init() has found its transport; `devices` is NCCL's number of them.
void communicator_opened(const Session& session, const Voice& voice, std::uint64_t communicator,
                         std::string_view transport, int devices) noexcept;
void communicator_closed(const Session& session, const Voice& voice, std::uint64_t communicator) noexcept;

/// `seconds` since the first connect() or accept() call of it.
void connected(const Session& session, const Voice& voice, const Connection& connection, double seconds) noexcept;
void connect_failed(const Session& session, const Voice& voice, const Connection& connection, double seconds,
                    int nccl_result, std::string_view why) noexcept;
void closed(const Session& session, const Voice& voice, const Connection& connection) noexcept;

/// What went through a connection since it was last told, where counters are on. Before closed(), or earlier and again.
void moved(const Session& session, const Connection& connection, std::uint64_t operations,
           std::uint64_t bytes) noexcept;

enum class Memory : std::uint8_t { host, cuda, dmabuf };
/// The first registration of this kind of memory on a connection. `refused` is the NCCL result where it failed, 0 else.
void memory_registered(const Session& session, const Voice& voice, const Connection& connection, Memory memory,
                       int refused) noexcept;

/// A finding that arose after the decision (drift, trailer, watch): counted and written; complain() says it.
void found(const Session& session, const Finding& finding) noexcept;

}  // namespace topoguard::record
