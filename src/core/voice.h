// SPDX-License-Identifier: Apache-2.0
// Speaks so that it is heard, and only in printable characters: names, values and paths stand in its lines. Information
// goes through NCCL's logger. Warnings and errors go through it too where its level (NCCL_DEBUG) shows them, else to
// stderr, once per code, from local rank 0. Never to stdout.
//
// Thread-safety: all functions may be called from any thread. Nothing is kept of a Voice: its logger may live in a
// library that is closed later.
#pragma once

#include <cstdint>
#include <string_view>

#include "nccl/common.h"
#include "topoguard/decision.h"

namespace topoguard {

struct Voice {
  tgnccl_logger_t logger = nullptr;  ///< NCCL's; null where NCCL has not called yet
  bool silent = false;               ///< TOPOGUARD_LOG=off
};

/// One line without its end of line.
void say(const Voice& voice, std::string_view line) noexcept;

/// Once per process for each `code`: said again, it is dropped. Written into the journal, too.
void complain(const Voice& voice, Severity severity, std::string_view code, std::string_view line) noexcept;

/// The same for what is in the journal already, with all that a finding has.
void complain_aloud(const Voice& voice, Severity severity, std::string_view code, std::string_view line) noexcept;

/// Who must hear a line: one process of each host is enough, or it concerns this very process.
enum class Reach : std::uint8_t { host, process };

/// The same line as complain(), every time. `host`: on stderr only from local rank 0.
void tell(const Voice& voice, Severity severity, std::string_view code, std::string_view line, Reach reach) noexcept;

}  // namespace topoguard
