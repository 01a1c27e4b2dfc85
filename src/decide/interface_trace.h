// SPDX-License-Identifier: Apache-2.0
// What decide --explain says about an interface beside the row that judged it: what it stands on, its address, the
// peers it reaches, and whether it is among those that are left to choose from.
#pragma once

#include <vector>

#include "decide/interfaces.h"

namespace topoguard {

/// Before the rows: "backing" and, where there is a choice, "address".
void trace_facts(const View& view, const InterfaceState& state, std::vector<RuleMatch>& trace);

/// After them: "peers" where some are known, "policy" where TOPOGUARD_INCLUDE or TOPOGUARD_SUBNETS speaks.
void trace_reach(const View& view, const InterfaceState& state, std::vector<RuleMatch>& trace);

/// "candidates": for each that is left, and for each that is good and was left out all the same.
void trace_pool(Interfaces& interfaces);

}  // namespace topoguard
