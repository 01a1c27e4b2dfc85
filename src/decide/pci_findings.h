// SPDX-License-Identifier: Apache-2.0
// What PCI says about the GPUs and the HCAs in use: acs-on, pcie-degraded.
// Sources: PCI Express Base Specification 5.0 sections 6.12 (ACS P2P request redirect) and 7.5.3 (link status);
// sysfs current_link_speed, current_link_width, max_link_speed, max_link_width (kernel drivers/pci/pci-sysfs.c).
#pragma once

#include <vector>

#include "decide/topology.h"
#include "topoguard/decision.h"

namespace topoguard {

std::vector<Finding> pci_findings(const HostSnapshot& host, const Topology& topology,
                                  const std::vector<GpuChoice>& gpus, const std::vector<HcaChoice>& chosen);

}  // namespace topoguard
