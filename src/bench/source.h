// SPDX-License-Identifier: Apache-2.0
// What can be driven: NCCL's own transports in a libnccl.so.2, topoguard's wrap of them, or any net plugin's file.
// Errors are std::runtime_error, as sentences for people. Not thread-safe.
#pragma once

#include <memory>
#include <string>

#include "bench/net.h"
#include "stock/stock_tables.h"

namespace topoguard::bench {

/// An NCCL in this process, opened as frameworks open it and never closed: its threads outlive every communicator.
class Nccl {
 public:
  /// Opens the file and lets NCCL read its environment (ncclGetUniqueId; it needs no GPU).
  explicit Nccl(const std::string& path);

  const std::string& path() const { return object_.object.path; }
  const std::string& release() const { return object_.release; }  ///< "2.28.9"
  int api() const { return api_; }                                ///< of its own transports
  tgnccl_logger_t logger() const { return logger_; }
  const NcclObject& object() const { return object_; }

 private:
  NcclObject object_;
  int api_ = 0;
  tgnccl_logger_t logger_ = nullptr;
};

/// "Socket" or "IB": NCCL's own transport; "topoguard": `plugin`, the file of topoguard's net plugin; else the path or
/// name of a net plugin, whose newest table is taken that this NCCL would take.
std::unique_ptr<Net> open_source(const Nccl& nccl, const std::string& source, const std::string& plugin);

}  // namespace topoguard::bench
