// SPDX-License-Identifier: Apache-2.0
// NUMA nodes, their CPUs and memory from /sys/devices/system/node (Documentation/ABI/stable/sysfs-devices-node), any
// width.
//
// Read directly and not through hwloc, on purpose: loading an hwloc topology opens some 25 files per CPU (0.5 ms for 2
// CPUs, so tens of ms on a server, against 4 ms for everything), and obeys HWLOC_SYNTHETIC, HWLOC_XMLFILE and
// HWLOC_FSROOT of the host program, which no flag switches off. A unit test holds this against hwloc. CPU sets are
// hwloc's.
#pragma once

#include "host/sources.h"
#include "topoguard/snapshot.h"

namespace topoguard::host {

/// A kernel without NUMA is one node, 0, with all online CPUs. Only online CPUs are listed; a node may have none
/// (memory only).
void read_numa(const Sources& sources, HostSnapshot& out);

}  // namespace topoguard::host
