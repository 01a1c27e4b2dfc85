// SPDX-License-Identifier: Apache-2.0
// What rank 0 knows when a check is over. Plain values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/launcher.h"
#include "check/messages.h"

namespace topoguard::check {

struct ClockOffset {
  double seconds = 0;      ///< ahead of rank 0's clock; negative: behind
  double uncertainty = 0;  ///< half the shortest round trip
};

struct HostSeen {
  Hello hello;
  std::string from;                  ///< the address that it came from; "" for rank 0 itself
  std::optional<ClockOffset> clock;  ///< empty for rank 0
  std::vector<int> also;             ///< ranks of the same host and namespace, which were not tried again
  bool reported = false;
  std::string lost;  ///< where it did not report: why
  std::vector<Probe> probes;
};

/// Somebody who came and was not taken.
struct TurnedAway {
  enum class Why : std::uint8_t { other_version, other_job, conflict, malformed } why = Why::malformed;
  std::string from;    ///< address
  std::string detail;  ///< for people
};

struct Gathered {
  Placement placement;
  std::vector<HostSeen> hosts;  ///< by rank; each host once
  std::vector<int> missing;     ///< ranks, where every process stands for one
  int missing_count = 0;        ///< ranks that did not come
  std::vector<TurnedAway> turned_away;
  int strangers = 0;  ///< connections that spoke something else
  double seconds = 0;
  double waited = 0;  ///< seconds for the ranks to come
};

}  // namespace topoguard::check
