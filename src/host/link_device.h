// SPDX-License-Identifier: Apache-2.0
// What the kernel keeps about a link outside rtnetlink: speed, driver, NUMA node, physical function; on kernels
// before 5.14 the parent device as well.
//
// sysfs shows the network namespace of whoever mounted it (Documentation/networking, net/core/net-sysfs.c), so "absent
// from /sys/class/net" says nothing about a link. What hangs on a bus is looked up by the bus device's name, which is
// the same in every namespace; speed is asked for by ioctl (SIOCETHTOOL), which acts in the caller's namespace, and by
// sysfs only where that shows this namespace. Speed and driver are read where they can matter: links on a bus, masters
// and slaves of aggregates, and links that are up with an address beyond link scope. A thousand idle veths cost
// nothing.
#pragma once

#include "host/sources.h"
#include "topoguard/snapshot.h"

namespace topoguard::host {

/// Completes out.links. Does nothing where they are unknown.
void read_link_devices(const Sources& sources, HostSnapshot& out);

/// NUMA node of a device directory or its nearest ancestor that tells one; empty where unknown or -1.
/// (virtio: the node stands at the PCI device above.) `directory` is canonical; the search ends at `root`.
std::optional<int> numa_node_above(std::string directory, const std::string& root);

}  // namespace topoguard::host
