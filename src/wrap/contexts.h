// SPDX-License-Identifier: Apache-2.0
// The contexts that init() hands to NCCL. Stock Socket's context is always NULL, so ours tell a real finalize() from
// the one that some releases send after a failed init(). A pointer is looked up, never followed: NCCL may hand in
// anything.
//
// Thread-safety: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "nccl/common.h"

namespace topoguard {

struct Context {
  void* base = nullptr;                      ///< the wrapped transport's own context
  tgnccl_result_t failure = tgnccl_success;  ///< what the wrapped init() said, where it failed at a later communicator
  std::uint64_t communicator = 0;            ///< NCCL's hash of it
};

class Contexts {
 public:
  void* add(const Context& context) {
    const std::lock_guard<std::mutex> lock(mutex_);
    // The key's address is the handle: unique while it is live, and nobody reads through it.
    auto handle = std::make_unique<char>();
    void* key = handle.get();
    entries_.emplace(key, Entry{std::move(handle), context});
    return key;
  }

  /// `handle` must be live. Allocates nothing.
  void set(void* handle, const Context& context) {
    const std::lock_guard<std::mutex> lock(mutex_);
    entries_.find(handle)->second.context = context;
  }

  std::optional<Context> find(void* handle) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto entry = entries_.find(handle);
    if (entry == entries_.end()) return std::nullopt;
    return entry->second.context;
  }

  std::optional<Context> remove(void* handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto entry = entries_.find(handle);
    if (entry == entries_.end()) return std::nullopt;
    const Context context = entry->second.context;
    entries_.erase(entry);
    return context;
  }

  std::size_t size() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return entries_.size();
  }

  void clear() {
    const std::lock_guard<std::mutex> lock(mutex_);
    entries_.clear();
  }

 private:
  struct Entry {
    std::unique_ptr<char> handle;
    Context context;
  };
  mutable std::mutex mutex_;
  std::map<void*, Entry> entries_;
};

}  // namespace topoguard
