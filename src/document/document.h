// SPDX-License-Identifier: Apache-2.0
// The two JSON documents of docs/host-snapshot.md as text: topoguard.host/1 is read and written, topoguard.decision/1
// written. Unknown members are ignored, an absent or null member means unknown. Reentrant; no global state.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "topoguard/decision.h"
#include "topoguard/snapshot.h"

namespace topoguard {

struct ReadSnapshot {
  std::optional<HostSnapshot> host;
  std::string error;  ///< where host is empty: one line "FILE: JSON POINTER: expected ..., found ..."
};

/// Any bytes are fine: truncated, deeply nested, larger than 64 MiB and non-UTF-8 input gives an error line. Throws
/// nothing.
ReadSnapshot read_snapshot(std::string_view text, std::string_view file_name);

enum class Layout : unsigned char {
  line,    ///< one line, so that many hosts' outputs can be mixed by a launcher and still be told apart
  people,  ///< indented
};

/// Ends with a line end. read_snapshot of it gives the same snapshot; bytes that are not UTF-8 become U+FFFD.
std::string write_snapshot(const HostSnapshot& host, Layout layout = Layout::people);
std::string write_decision(const Decision& decision, Layout layout = Layout::people);

}  // namespace topoguard
