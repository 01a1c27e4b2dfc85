// SPDX-License-Identifier: Apache-2.0
// NCCL's own transports inside the NCCL object that called us. They are hidden symbols: found by the file's symbol
// table, else by a search of the object's writable memory, and proven before anything is returned.
// Facts: NCCL 2.18 to 2.30, src/transport/net_ib.cc, net_socket.cc, gin: `ncclNetIb`, `ncclNetSocket`, names "IB" and
// "Socket" in every release; docs/nccl-abi.md.
//
// Thread-safety: re-entrant; nothing is cached (a library can be closed and opened elsewhere).
#pragma once

#include <optional>
#include <string>

#include "stock/loaded_object.h"

namespace topoguard {

/// The NCCL that called us.
struct NcclObject {
  LoadedObject object;
  int version_code = 0;  ///< 22809; 0 where it could not be asked
  std::string release;   ///< "2.28.9"; "" where unknown
};

struct StockTables {
  void* ib = nullptr;      ///< null where this build of NCCL has no InfiniBand transport
  void* socket = nullptr;  ///< null where nothing was found; `problem` says why
  void* gin_ib_proxy = nullptr;
  std::string how;      ///< "symbol table" or "memory search"
  std::string problem;  ///< for people; empty where `socket` is set
};

/// From an address inside NCCL, such as the logger that init() received. nullopt: that address is in no loaded object.
std::optional<NcclObject> nccl_object_of(const void* address);

/// Tables of exactly this API version, which must be the release's native one.
StockTables find_stock_tables(const NcclObject& nccl, int api);

/// The interface that this NCCL's bootstrap took, read from its own variable (`bootstrapNetIfName`, bootstrap.cc, 17
/// bytes in every release); "" where it is not set yet or cannot be found (a stripped file).
std::string bootstrap_interface(const NcclObject& nccl);

}  // namespace topoguard
