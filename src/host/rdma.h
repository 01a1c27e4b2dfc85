// SPDX-License-Identifier: Apache-2.0
// RDMA devices, ports and GID tables from /sys/class/infiniband (Documentation/ABI/stable/sysfs-class-infiniband), and
// whether each one's character device opens. No verbs library is loaded and no context made.
//
// An absent class directory with sysfs present means no RDMA device: an empty list. Without sysfs: unknown.
#pragma once

#include <functional>

#include "host/sources.h"
#include "topoguard/snapshot.h"

namespace topoguard::host {

/// Uses out.links for the netdev and its MTU, so read_links and read_link_devices come first.
void read_rdma(const Sources& sources, bool try_verbs, HostSnapshot& out);

/// The GID table of a port directory (".../ports/1" open as `port`). All-zero and malformed entries are left out; a
/// type or netdev that cannot be read (EINVAL: no such entry for this namespace, or an InfiniBand port) is absent.
/// nullopt where the table itself cannot be listed.
std::optional<std::vector<GidEntry>> read_gids(int port);

/// Fills RdmaDevice::usable from the uverbs character devices.
void try_verbs_devices(const Sources& sources, std::vector<RdmaDevice>& devices, HostSnapshot& out);

/// Path MTU of RoCE for a netdev's MTU: the largest of 256...4096 that fits beside 96 bytes of headers
/// (iboe_get_mtu, include/rdma/ib_addr.h). Empty below 352.
std::optional<int> roce_mtu(int netdev_mtu);

}  // namespace topoguard::host
