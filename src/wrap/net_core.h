// SPDX-License-Identifier: Apache-2.0
// The state of one exported net table: which NCCL object it serves, which transport it wraps, its live contexts.
// The table's own types stay outside; NetHooks is all that differs between the versions.
//
// Thread-safety: open() is serialised here (NCCL's own lock is per NCCL object, and a process can have two); the rest
// may be called from any thread.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "core/drift.h"
#include "core/session.h"
#include "wrap/base_choice.h"
#include "wrap/connections.h"
#include "wrap/contexts.h"

namespace topoguard {

struct NetHooks {
  std::function<tgnccl_result_t(const void* table, void** base_context)> init;
  std::function<tgnccl_result_t(const void* table, int* count)> devices;
  std::function<tgnccl_result_t(const void* table, int device, void* properties)> properties;
  std::function<void(const void* table, void* base_context)> finalize;  ///< empty below v11
  /// Patch the exported table, publish the wrapped one; `counted`: with data slots that count.
  std::function<void(const Base& base, bool counted)> take;
  DeviceAnswer (*ask)(const void* table, int device) = nullptr;
};

class NetCore {
 public:
  explicit NetCore(int api) : api_(api) {}

  /// init() of the exported table. `context` is null below v11.
  tgnccl_result_t open(tgnccl_logger_t logger, const NetHooks& hooks, void** context, std::uint64_t communicator);
  /// finalize() of a live context.
  void closed(const Context& context);

  Contexts& contexts() { return contexts_; }
  Connections& connections() { return connections_; }
  /// TOPOGUARD_REQUIRE=IB is not met: connections are refused.
  bool refuses() const { return refuses_.load(std::memory_order_relaxed); }
  /// What listen() and connect() return then, with one error line that names the reason.
  tgnccl_result_t refuse_connection() noexcept;

 private:
  tgnccl_result_t bind(const Session& session, const NcclObject& nccl, tgnccl_logger_t logger, const NetHooks& hooks,
                       void** context, std::uint64_t communicator);
  tgnccl_result_t join(const Session& session, tgnccl_logger_t logger, const NetHooks& hooks, void** context,
                       std::uint64_t communicator);
  void report_joined(const Session& session, tgnccl_logger_t logger, const NetHooks& hooks, const Context& fresh) const;
  void seat(const Session& session, tgnccl_logger_t logger, const NetHooks& hooks);
  bool live() const;
  tgnccl_result_t decline(const NcclObject* nccl) const;
  void check_require(const Session& session, const Voice& voice, const Base& base);
  bool try_base(const Base& base, const NetHooks& hooks, void** base_context, int* devices, std::string* why) const;
  void check_steering(const Session& session, const Voice& voice, const Base& base, const NetHooks& hooks, int devices);

  const int api_;
  std::mutex mutex_;
  std::optional<NcclObject> bound_;
  Base base_;
  Contexts contexts_;
  Connections connections_;
  std::atomic<bool> said_refusal_{false};
  std::atomic<bool> refuses_{false};
  FurtherCommunicators communicators_;
};

}  // namespace topoguard
