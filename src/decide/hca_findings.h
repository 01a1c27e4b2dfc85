// SPDX-License-Identifier: Apache-2.0
// What is to be said about the HCAs, with and without them in use.
#pragma once

#include <vector>

#include "decide/hca_ports.h"
#include "decide/user_settings.h"

namespace topoguard {

/// True whatever carries the data: hca-unusable, port-down, subnet-manager-missing, gid-missing.
std::vector<Finding> hca_state_findings(const std::vector<PortState>& states);

/// Only where HCAs carry the data: mixed-link-layer, gid-pin-stale, gid-not-steerable, memlock-low, gdr-unavailable.
std::vector<Finding> hca_use_findings(const View& view, const UserSettings& user, const std::vector<PortState>& states,
                                      const std::vector<HcaChoice>& chosen);

/// Why no HCA is used, counted by cause: "8 cannot be opened, 1 has its port down".
std::string why_no_hca(const std::vector<PortState>& states);

}  // namespace topoguard
