// SPDX-License-Identifier: Apache-2.0
// RoCE ports that lack nothing but an address.
#pragma once

#include <vector>

#include "decide/hca_filters.h"
#include "topoguard/decision.h"

namespace topoguard {

/// gid-link-local, after filter_ports: of a port that was left out for its link-local addresses alone and would else be
/// among the chosen ones; and of the chosen ones where none has a better address. Silent about a port of a bond or
/// bridge, which needs no address of its own, and about the second port of a card where cards are used by one port.
std::vector<Finding> rail_findings(const FilterContext& context, std::vector<PortState>& states);

}  // namespace topoguard
