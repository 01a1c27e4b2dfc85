// SPDX-License-Identifier: Apache-2.0
// The parts of topoguard.host/1, each from its JSON member; src/import uses them on pasted iproute2 output. All throw
// Malformed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "document/json_node.h"
#include "topoguard/snapshot.h"

namespace topoguard::json {

Link read_link(const Node& node);    ///< one element of `ip -d -j addr`
Route read_route(const Node& node);  ///< one element of `ip -j route`
std::vector<Link> read_links(
    const Node& list);  ///< empty objects, which old iproute2 prints for filtered links, are left out
std::vector<Route> read_routes(const Node& list);
std::vector<RdmaDevice> read_rdma(const Node& list);
std::vector<Gpu> read_gpus(const Node& list);
std::vector<GpuPath> read_paths(const Node& list);
std::vector<PciDevice> read_pci(const Node& list);
std::vector<NumaNode> read_numa(const Node& list);

/// A NUMA node number; -1 and absent are unknown.
std::optional<int> read_numa_node(const Node& object);
std::map<std::string, std::string> read_variables(const Node& object);

}  // namespace topoguard::json
