// SPDX-License-Identifier: Apache-2.0
// What a process leaves in files: events as JSON lines (TOPOGUARD_LOG_FILE) and counters (TOPOGUARD_METRICS). Nothing
// is opened before the first event. A file that cannot be written is warned of once, and the job goes on without.
//
// Each line is an object: "time" (UTC, RFC 3339), "event", "host", "pid", "local_rank" where a launcher tells, then the
// event's own members; docs/log.md lists them.
//
// Thread-safety: all functions may be called from any thread. Nothing throws.
#pragma once

#include <string_view>

#include "core/function_ref.h"
#include "core/voice.h"
#include "document/json_writer.h"
#include "journal/metrics.h"
#include "topoguard/decision.h"
#include "topoguard/policy.h"

namespace topoguard::journal {

using Event = JsonObject;

/// Once the settings are known; closes what earlier settings opened. Without this call, and where neither file is
/// named, all else here does nothing.
void configure(const Policy& policy) noexcept;

/// One line, where the log file is named. `make` gives the event's own members; it is called only then.
void event(const Voice& voice, std::string_view name, FunctionRef<Event()> make) noexcept;

/// Counted once per process for each code, device and message, and written as an event.
void finding(const Voice& voice, const Finding& finding) noexcept;

/// Changes the counters, where the metrics are named.
void count(FunctionRef<void(Metrics&)> change) noexcept;

enum class When : unsigned char {
  soon,  ///< at most once a second, after a first burst: many connections come up at once
  now,
};
/// Writes the counters' file where something has changed.
void write_metrics(const Voice& voice, When when) noexcept;

}  // namespace topoguard::journal
