// SPDX-License-Identifier: Apache-2.0
// Once per process: collect, decide, publish, explain. Every front end enters here and holds nothing else.
//
// Thread-safety: enter() may be called from any thread; the first call does the work, the others wait for it. The
// Session is immutable afterwards and lives until the process ends.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "core/voice.h"
#include "host/collect.h"
#include "nccl/common.h"
#include "stock/stock_tables.h"
#include "topoguard/decision.h"
#include "topoguard/policy.h"
#include "topoguard/snapshot.h"

namespace topoguard {

struct Caller {
  FrontEnd front_end = FrontEnd::net;
  tgnccl_logger_t logger = nullptr;
  const NcclObject* nccl = nullptr;         ///< the NCCL that called, where known
  std::optional<std::string> nccl_version;  ///< "2.28.9" where only the version is known (env plugin)
};

struct Session {
  bool off = false;                            ///< TOPOGUARD_MODE=off: as if topoguard were not there
  bool decided = false;                        ///< false: off, or something failed; then nothing was changed
  std::chrono::steady_clock::time_point when;  ///< when the host was looked at
  bool published = false;  ///< NCCL is steered: the environment was changed, or the env plugin answers
  HostSnapshot host;       ///< env holds what the user set, without what topoguard published earlier
  Policy policy;
  Decision decision;

  bool enforces() const { return decided && policy.mode == Mode::enforce; }
  Voice voice(tgnccl_logger_t logger) const { return {logger, off || policy.log == LogLevel::off}; }
};

const Session& enter(const Caller& caller) noexcept;

/// The live host as every front end must see it: collect(), less what topoguard itself published earlier.
HostSnapshot look_at_host(const Sources& sources, const CollectOptions& options);

/// What enter() is made of, for tests that let a part fail. Null members are the real parts.
struct SessionParts {
  std::function<HostSnapshot(const Sources&, const CollectOptions&)> collect;
  std::function<Decision(const HostSnapshot&, const Policy&)> decide;
  std::function<HostSnapshot(const Sources&)> drift;  ///< collect_drift()
  std::chrono::milliseconds pause{1000};              ///< at least this long between two looks at the host
  Sources sources;
};

/// Runs one session from these parts, without remembering it.
Session run_session(const Caller& caller, const SessionParts& parts) noexcept;

/// The parts that enter() uses.
SessionParts session_parts();

/// Makes enter() forget and use these parts from now on. Tests only: no other thread may be inside.
void replace_session_parts(SessionParts parts);

}  // namespace topoguard
