// SPDX-License-Identifier: Apache-2.0
// Which RDMA ports NCCL's own InfiniBand transport takes on a host. Sources: ncclIbInit in transport/net_ib.cc
// (2.18 to 2.27) and transport/net_ib/init.cc (2.28 to 2.30).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "nccl_rules/name_list.h"
#include "nccl_rules/release.h"
#include "topoguard/snapshot.h"

namespace topoguard {

struct NcclPort {
  const RdmaDevice* device = nullptr;
  const RdmaPort* port = nullptr;
};

/// What the port's link layer is: as recorded, else by what only one of the two has (a LID; a RoCE GID or a netdev
/// without a LID). "" where neither NCCL nor we can use it (EFA, usNIC) or nothing tells.
std::string_view link_layer(const RdmaPort& port);

/// NCCL would open this port: state ACTIVE, link layer InfiniBand or Ethernet, device not known to be unopenable.
bool nccl_can_take(const RdmaDevice& device, const RdmaPort& port);

/// The ports in the order in which NCCL numbers them, at most release.max_hcas(). `list` empty: NCCL_IB_HCA is unset.
/// Order: the snapshot's (ibv_get_device_list's), from 2.29.7 by PCI address.
std::vector<NcclPort> nccl_hcas(const NcclRelease& release, const std::vector<RdmaDevice>& devices,
                                const std::optional<NameList>& list);

}  // namespace topoguard
