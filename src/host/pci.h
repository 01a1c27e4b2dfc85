// SPDX-License-Identifier: Apache-2.0
// PCI devices, their parents and locality, from sysfs (Documentation/ABI/testing/sysfs-bus-pci). Taken: NVIDIA GPUs,
// RDMA devices, netdevs' devices, and every bridge above them; the rest of a large server's PCI tree decides nothing.
#pragma once

#include <string>
#include <vector>

#include "host/sources.h"
#include "topoguard/snapshot.h"

namespace topoguard::host {

/// Fills out.pci and out.gpus. Uses out.links and out.rdma, so those come first.
/// `may_read_config` allows reading config space for ACS (slow, root only).
void read_pci(const Sources& sources, bool may_read_config, HostSnapshot& out);

/// Ids of the GPUs: class 0x0300xx or 0x0302xx and vendor 0x10de, in the order of their ids; index counts in that
/// order.
std::vector<Gpu> find_gpus(const Sources& sources, const std::vector<std::string>& ids);

/// Whether ACS sends peer-to-peer requests or completions up to the root (PCIe 5.0, 7.7.8.3: bits 2 and 3 of the ACS
/// control register) at this bridge. `config` is its config space. nullopt where that is too short to tell.
std::optional<bool> acs_redirect(const std::string& config);

}  // namespace topoguard::host
