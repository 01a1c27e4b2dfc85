// SPDX-License-Identifier: Apache-2.0
#include "decide/topology.h"

#include <algorithm>
#include <cctype>

namespace topoguard {

namespace {

constexpr int kDeepestTree = 64;  // far beyond any machine; ends a walk in a tree that loops

std::string bus_of(std::string_view id) { return std::string(id.substr(0, std::min(id.size(), id.rfind(':')))); }

}  // namespace

std::string normal_pci_id(std::string_view id) {
  std::string text;
  for (const char c : id) text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto colons = std::count(text.begin(), text.end(), ':');
  if (colons == 1) return "0000:" + text;
  if (colons != 2) return text;
  std::size_t zeros = 0;
  const auto domain = text.find(':');
  while (domain - zeros > 4 && text[zeros] == '0') ++zeros;
  return text.substr(zeros);
}

Topology::Topology(const HostSnapshot& host) : host_(host) {
  for (const auto& device : known(host.pci)) devices_.emplace(normal_pci_id(device.id), &device);
  for (const auto& path : known(host.paths)) {
    auto& recorded = recorded_[path.gpu];
    const auto [at, is_new] = recorded.emplace(path.device, path.path);
    if (!is_new) at->second = std::min(at->second, path.path);  // said twice: independent of the order of the document
  }
  for (const auto& node : known(host.numa)) nodes_with_cpus_ += node.cpus.empty() ? 0 : 1;

  // Below one real bridge everything is on one bus. A "switch" with children on several buses stands for all its ports.
  std::unordered_map<const PciDevice*, std::string> bus_below;
  for (const auto& device : known(host.pci)) {
    const auto* above = parent(device);
    if (above == nullptr || flattened_) continue;
    const auto [at, is_new] = bus_below.emplace(above, bus_of(normal_pci_id(device.id)));
    if (!is_new && at->second != bus_of(normal_pci_id(device.id))) flattened_ = true;
  }
}

const PciDevice* Topology::device(std::string_view id) const {
  const auto found = devices_.find(normal_pci_id(id));
  return found == devices_.end() ? nullptr : found->second;
}

const PciDevice* Topology::parent(const PciDevice& device) const {
  if (!device.parent || device.parent->empty()) return nullptr;
  const auto* above = this->device(*device.parent);
  return above == &device ? nullptr : above;
}

std::vector<const PciDevice*> Topology::chain(std::string_view id) const {
  std::vector<const PciDevice*> found;
  for (const auto* at = device(id); at != nullptr && found.size() < kDeepestTree; at = parent(*at)) found.push_back(at);
  return found;
}

std::optional<int> Topology::node_of(std::string_view id) const {
  for (const auto* at : chain(id))
    if (at->numa_node && *at->numa_node >= 0) return at->numa_node;
  return std::nullopt;
}

const NumaNode* Topology::numa(int node) const {
  for (const auto& known_node : known(host_.numa))
    if (known_node.node == node) return &known_node;
  return nullptr;
}

std::optional<int> Topology::numa_node(const Gpu& gpu) const {
  const auto has_cpus = [&](std::optional<int> node) {
    if (!node || *node < 0) return false;
    const auto* at = numa(*node);
    return at != nullptr ? !at->cpus.empty() : !host_.numa;
  };
  // GPU memory shows up as NUMA nodes without CPUs (Grace Hopper): such a number says nothing about the CPUs.
  if (has_cpus(gpu.numa_node)) return gpu.numa_node;
  if (gpu.pci) {
    if (const auto node = node_of(*gpu.pci); has_cpus(node)) return node;
    for (const auto* at : chain(*gpu.pci)) {
      if (!at->local_cpus || at->local_cpus->empty()) continue;
      for (const auto& node : known(host_.numa))
        if (!node.cpus.empty() && at->local_cpus->is_subset_of(node.cpus)) return node.node;
      break;
    }
  }
  if (nodes_with_cpus_ == 1)
    for (const auto& node : known(host_.numa))
      if (!node.cpus.empty()) return node.node;
  if (!host_.numa && gpu.numa_node && *gpu.numa_node >= 0) return gpu.numa_node;
  return std::nullopt;
}

std::optional<int> Topology::numa_node(const RdmaDevice& hca) const {
  if (hca.numa_node && *hca.numa_node >= 0) return hca.numa_node;
  if (hca.pci)
    if (const auto node = node_of(*hca.pci)) return node;
  if (hca.physfn && !hca.physfn->empty())
    if (const auto node = node_of(*hca.physfn)) return node;
  if (nodes_with_cpus_ == 1)
    for (const auto& node : known(host_.numa))
      if (!node.cpus.empty()) return node.node;
  return std::nullopt;
}

std::optional<CpuSet> Topology::cpus(const Gpu& gpu) const {
  if (const auto node = numa_node(gpu))
    if (const auto* at = numa(*node); at != nullptr && !at->cpus.empty()) return at->cpus;
  if (!gpu.pci) return std::nullopt;
  for (const auto* at : chain(*gpu.pci)) {
    if (!at->local_cpus || at->local_cpus->empty()) continue;
    // A platform that hides locality calls every CPU local.
    CpuSet all;
    for (const auto& node : known(host_.numa)) all = all | node.cpus;
    if (nodes_with_cpus_ > 1 && all.is_subset_of(*at->local_cpus)) return std::nullopt;
    return at->local_cpus;
  }
  return std::nullopt;
}

std::optional<PathClass> Topology::computed(std::string_view a, std::optional<int> node_a, std::string_view b,
                                            std::optional<int> node_b) const {
  const auto chain_a = chain(a), chain_b = chain(b);
  for (std::size_t up_a = 0; up_a < chain_a.size(); ++up_a) {
    const auto meet = std::find(chain_b.begin(), chain_b.end(), chain_a[up_a]);
    if (meet == chain_b.end()) continue;
    const auto up_b = static_cast<std::size_t>(meet - chain_b.begin());
    // Bridges strictly below the meeting point. A switch has an upstream port and one downstream port to each side.
    const std::size_t below = std::max(up_a, up_b) > 0 ? std::max(up_a, up_b) - 1 : 0;
    return below <= (flattened_ ? 0U : 1U) ? PathClass::PIX : PathClass::PXB;
  }
  const bool trees = !chain_a.empty() && !chain_b.empty();
  // Root ports of one host bridge share a bus; a device with no recorded parent tells nothing about its bridge.
  if (trees && chain_a.size() > 1 && chain_b.size() > 1 && !flattened_ &&
      bus_of(normal_pci_id(chain_a.back()->id)) == bus_of(normal_pci_id(chain_b.back()->id)))
    return PathClass::PHB;
  if (!node_a || !node_b || *node_a < 0 || *node_b < 0) return std::nullopt;
  return *node_a == *node_b ? PathClass::NODE : PathClass::SYS;
}

std::optional<PathClass> Topology::path(const Gpu& gpu, const RdmaDevice& hca) const {
  if (const auto row = recorded_.find(gpu.index); row != recorded_.end())
    if (const auto cell = row->second.find(hca.name); cell != row->second.end()) return cell->second;
  // A virtual function sits where its physical function does; the tree may list only that one.
  std::string_view at = hca.pci ? std::string_view(*hca.pci) : std::string_view();
  if (device(at) == nullptr && hca.physfn && !hca.physfn->empty()) at = *hca.physfn;
  return computed(gpu.pci ? std::string_view(*gpu.pci) : std::string_view(), numa_node(gpu), at, numa_node(hca));
}

std::optional<PathClass> Topology::nearest(const RdmaDevice& hca) const {
  std::optional<PathClass> best;
  for (const auto& gpu : known(host_.gpus))
    if (const auto found = path(gpu, hca); found && (!best || *found < *best)) best = found;
  return best;
}

std::vector<const PciDevice*> Topology::bridges_between(std::string_view a, std::string_view b) const {
  const auto chain_a = chain(a), chain_b = chain(b);
  for (std::size_t up_a = 0; up_a < chain_a.size(); ++up_a) {
    const auto meet = std::find(chain_b.begin(), chain_b.end(), chain_a[up_a]);
    if (meet == chain_b.end()) continue;
    std::vector<const PciDevice*> crossed;
    for (std::size_t i = 1; i < up_a; ++i) crossed.push_back(chain_a[i]);
    for (auto at = chain_b.begin() + 1; at < meet; ++at) crossed.push_back(*at);
    if (flattened_) crossed.push_back(*meet);
    return crossed;
  }
  return {};
}

}  // namespace topoguard
