// SPDX-License-Identifier: Apache-2.0
// A second look at the host when a further communicator is created. NCCL has its devices by then; what changed under
// them is reported once per kind, and nothing is changed.
#pragma once

#include <atomic>

#include "core/session.h"

namespace topoguard {

/// Counts the communicators that one front end sees, so that the first is not looked at twice.
class FurtherCommunicators {
 public:
  /// False for the first communicator, true from then on. Any thread.
  bool one_more() { return seen_.exchange(true); }

 private:
  std::atomic<bool> seen_{false};
};

/// Looks unless somebody did within the last second. Nothing where the session is off or undecided. Any thread.
void look_again(const Session& session, const Voice& voice) noexcept;

}  // namespace topoguard
