// SPDX-License-Identifier: Apache-2.0
// The side of every rank but 0: finds rank 0, answers it, tries whom it names, and learns the result. Not thread-safe.
#pragma once

#include <chrono>
#include <string>

#include "check/launcher.h"
#include "check/messages.h"

namespace topoguard::check {

class Loop;

struct MemberResult {
  int status = 2;     ///< what rank 0 says, where error is empty
  std::string error;  ///< one line: whom it waited for, where, how long, what that means
};

/// Within `whole` for finding rank 0, and about as much again for the rest.
MemberResult take_part(Loop& loop, const Placement& placement, const Hello& own, std::chrono::milliseconds whole,
                       std::size_t descriptors);

}  // namespace topoguard::check
