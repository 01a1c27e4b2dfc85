// SPDX-License-Identifier: Apache-2.0
// What changed on the host between the decision and a later communicator. NCCL keeps its devices, addresses and
// settings from its first communicator on, so nothing can be steered any more: it can only be said. Pure functions.
#pragma once

#include <vector>

#include "topoguard/decision.h"
#include "topoguard/snapshot.h"

namespace topoguard {

/// `before` with the links and RDMA devices of `now`, where those could be read. Whether a device can be opened is not
/// tried again and stays as it was.
HostSnapshot seen_again(HostSnapshot before, const HostSnapshot& now);

/// Of the devices that `decided` uses: link-drift, address-drift, port-drift, gid-drift. And choice-drift where
/// `would`, the decision for `after`, is another one though nothing of that kind happened.
std::vector<Finding> find_drift(const HostSnapshot& before, const Decision& decided, const HostSnapshot& after,
                                const Decision& would);

}  // namespace topoguard
