// SPDX-License-Identifier: Apache-2.0
// What the log says beyond the summary at the first communicator: with TOPOGUARD_LOG=paths what each chosen device and
// GPU has, with debug every rule that matched, as decide --explain prints it. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "topoguard/decision.h"
#include "topoguard/policy.h"
#include "topoguard/snapshot.h"

namespace topoguard {

/// Lines as those of log_block(), none where the policy asks for none.
std::vector<std::string> path_lines(const HostSnapshot& host, const Policy& policy, const Decision& decision);

/// What a row of the trace is about: its rule says it, else the kind of its device.
Subject subject_of(const RuleMatch& match, const Decision& decision);

}  // namespace topoguard
