// SPDX-License-Identifier: Apache-2.0
// The words of the watch. Pure functions.
#pragma once

#include <vector>

#include "watch/waiting.h"

namespace topoguard::watch {

/// One line for all of them, longest first: how many, the first three, what is known of both sides, likely causes in
/// order; the remedy is what to run next.
Finding waiting_finding(const std::vector<Waiter*>& waiters, double now);
Finding late_finding(int connections, double longest);
Finding timeout_finding(const Waiter& waiter, double waited, int limit_s);

struct StalledConnection {
  record::Connection connection;  ///< device -1: not known any more
  int requests = 0;
  double longest = 0;  ///< seconds
};
/// The first three, longest first.
Finding stalled_finding(const std::vector<StalledConnection>& connections);

/// "to 10.0.0.2:41234 over Socket on eth0 (10.0.0.1)", "from a peer that should connect to 10.0.0.1:40001 over ..."
std::string waiter_text(const Waiter& waiter);
/// A finding as one line.
std::string line_of(const Finding& finding);

}  // namespace topoguard::watch
