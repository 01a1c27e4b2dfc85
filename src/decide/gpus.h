// SPDX-License-Identifier: Apache-2.0
// Per GPU: its NUMA node, the CPUs to bind to and the chosen HCAs nearest to it; and what PCI says about the pairs.
#pragma once

#include <vector>

#include "decide/hcas.h"
#include "decide/topology.h"
#include "topoguard/decision.h"

namespace topoguard {

struct GpuResult {
  std::vector<GpuChoice> gpus;    ///< by index
  std::vector<Finding> findings;  ///< affinity-empty, numa-unknown; with HCAs in use: acs-on, gdr-unavailable, ...
  std::vector<RuleMatch> trace;
};

/// `chosen`: the HCAs in use, empty where the data goes over sockets.
GpuResult choose_gpus(const HostSnapshot& host, const Topology& topology, const std::vector<HcaChoice>& chosen);

}  // namespace topoguard
