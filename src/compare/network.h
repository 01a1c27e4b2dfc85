// SPDX-License-Identifier: Apache-2.0
// Which hosts cannot reach each other from the devices that they chose, without trying every pair: hosts whose devices
// reach the same prefixes and are reached by the same ones are one group, and groups are compared.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compare/digest.h"

namespace topoguard {

struct Unreachable {
  std::vector<std::size_t> hosts;  ///< positions in `digests`: those apart from the largest part of the job
  std::string example;             ///< "node-a 10.0.1.11/24 and node-b 10.0.2.12/24"
};

/// `endpoints` gives a host's devices; a host without any takes no part. Two hosts fit where every device of the one
/// with fewer has a partner on the other: both reach each other's address. `hosts` is empty where all fit.
Unreachable apart(const std::vector<HostDigest>& digests,
                  const std::function<const std::vector<Endpoint>&(const HostDigest&)>& endpoints);

}  // namespace topoguard
