// SPDX-License-Identifier: Apache-2.0
// What decide --explain says about the GIDs of a RoCE port: each entry that was considered, best first, and what made
// it better or worse; then the one that NCCL will arrive at.
#pragma once

#include <string>
#include <vector>

#include "decide/gids.h"
#include "topoguard/decision.h"

namespace topoguard {

/// What puts `gid` after `best`: the first criterion of GidRank in which they differ, for people.
std::string why_after(const UsableGid& best, const UsableGid& gid);

/// One line for each entry, under the rule "gid"; a table of hundreds is cut.
void trace_gids(const std::string& device, const RdmaPort& port, const PortGids& gids, std::vector<RuleMatch>& trace);

/// Which entry NCCL will arrive at, under the rule "gid-choice"; nothing where the port needs none.
void trace_gid_choice(const std::string& device, const HcaChoice& hca, const PortGids& gids,
                      std::vector<RuleMatch>& trace);

}  // namespace topoguard
