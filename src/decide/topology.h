// SPDX-License-Identifier: Apache-2.0
// How far devices are apart, from the PCI tree. Classes as NCCL (graph/topo.h, graph/paths.cc) and nvidia-smi topo -m
// name them: PIX one switch at most, PXB several, PHB one host bridge, NODE one NUMA node, SYS across nodes.
// What was recorded (snapshot "paths") wins over what is computed; what cannot be known stays unknown.
// Holds a reference into the snapshot. Const methods are safe to call from several threads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "topoguard/snapshot.h"

namespace topoguard {

/// Lower case, four-digit domain: "00000000:1B:00.0" and "1b:00.0" become "0000:1b:00.0". Anything else is kept.
std::string normal_pci_id(std::string_view id);

class Topology {
 public:
  explicit Topology(const HostSnapshot& host);

  /// Between a GPU and an HCA, by name. nullopt: nothing tells.
  std::optional<PathClass> path(const Gpu& gpu, const RdmaDevice& hca) const;
  /// The nearest class that any GPU of the host has to the HCA. nullopt: no GPU, or nothing tells.
  std::optional<PathClass> nearest(const RdmaDevice& hca) const;

  /// Bridges that traffic between the two crosses where ACS can turn it to the root: those below the switch or root
  /// port at which the paths part (in a tree without downstream ports, that switch itself). Empty where the paths
  /// meet in no switch.
  std::vector<const PciDevice*> bridges_between(std::string_view a, std::string_view b) const;

  std::optional<int> numa_node(const Gpu& gpu) const;  ///< the node whose CPUs are the GPU's; empty where hidden
  std::optional<int> numa_node(const RdmaDevice& hca) const;
  /// The CPUs near the GPU; nullopt where the platform does not tell them.
  std::optional<CpuSet> cpus(const Gpu& gpu) const;

  const PciDevice* device(std::string_view id) const;
  const PciDevice* parent(const PciDevice& device) const;

 private:
  std::vector<const PciDevice*> chain(std::string_view id) const;  ///< the device, then its parents up to the root
  std::optional<int> node_of(std::string_view id) const;           ///< its own, else the nearest parent's
  const NumaNode* numa(int node) const;
  std::optional<PathClass> computed(std::string_view a, std::optional<int> node_a, std::string_view b,
                                    std::optional<int> node_b) const;

  const HostSnapshot& host_;
  std::unordered_map<std::string, const PciDevice*> devices_;
  std::unordered_map<int, std::unordered_map<std::string, PathClass>> recorded_;
  bool flattened_ = false;  ///< the tree has switches without their downstream ports, as NCCL's topology files do
  int nodes_with_cpus_ = 0;
};

}  // namespace topoguard
