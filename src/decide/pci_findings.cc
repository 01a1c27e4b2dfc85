// SPDX-License-Identifier: Apache-2.0
#include "decide/pci_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "decide/findings.h"

namespace topoguard {

namespace {

const RdmaDevice* device_of(const HostSnapshot& host, std::string_view name) {
  for (const auto& device : known(host.rdma))
    if (device.name == name) return &device;
  return nullptr;
}

const Gpu* gpu_of(const HostSnapshot& host, int index) {
  for (const auto& gpu : known(host.gpus))
    if (gpu.index == index) return &gpu;
  return nullptr;
}

// A virtual function has no link of its own: its card's physical function has.
std::string place(const Topology& topology, const RdmaDevice& device) {
  if (device.physfn && !device.physfn->empty() &&
      (!device.pci || topology.device(*device.pci) == nullptr || !topology.device(*device.pci)->link_width))
    return *device.physfn;
  return device.pci.value_or("");
}

void redirected(const HostSnapshot& host, const Topology& topology, const std::vector<GpuChoice>& gpus,
                std::vector<Finding>& findings) {
  for (const auto& choice : gpus) {
    const auto* gpu = gpu_of(host, choice.gpu);
    if (gpu == nullptr || !gpu->pci) continue;
    for (const auto& name : choice.nearest) {
      const auto* hca = device_of(host, name);
      if (hca == nullptr) continue;
      for (const auto* bridge : topology.bridges_between(*gpu->pci, place(topology, *hca))) {
        if (!bridge->acs_redirect.value_or(false)) continue;
        findings.push_back(make_finding(
            "acs-on", name,
            fmt::format("GPU {} and {} are under one PCIe switch, but its port {} redirects their traffic to the root "
                        "complex (ACS): GPUDirect RDMA between them is slow or hangs.",
                        choice.gpu, name, bridge->id)));
        break;
      }
    }
  }
}

template <typename T>
std::optional<T> least(const std::optional<T>& a, const std::optional<T>& b) {
  if (a && b) return std::min(*a, *b);
  return a ? a : b;
}

// The link cannot be better than the slot: a x16 card in a x8 slot is whole. A slot that is not recorded leaves doubt.
struct Link {
  std::string problem;
  bool slot_known = false;
};

Link degraded(const Topology& topology, const PciDevice& device, bool speed_counts) {
  Link link;
  const auto* slot = topology.parent(device);
  const auto width = least(device.max_link_width, slot != nullptr ? slot->max_link_width : std::nullopt);
  const auto speed = least(device.max_link_gts, slot != nullptr ? slot->max_link_gts : std::nullopt);
  link.slot_known = slot != nullptr && slot->max_link_width;
  if (device.max_link_width && device.link_width && *device.link_width > 0 && *device.link_width < *width)
    link.problem = fmt::format("x{} where x{} is possible", *device.link_width, *width);
  // Reported speeds are rounded differently from file to file (2.5, 5, 8, 16, 32, 64).
  if (speed_counts && device.max_link_gts && device.link_gts && *device.link_gts > 0 && *device.link_gts < 0.9 * *speed)
    link.problem += fmt::format("{}{:g} GT/s where {:g} GT/s is possible", link.problem.empty() ? "" : " and ",
                                *device.link_gts, *speed);
  return link;
}

void add_degraded(const Topology& topology, const std::string& name, std::string_view pci, bool speed_counts,
                  std::vector<Finding>& findings) {
  const auto* device = topology.device(pci);
  if (device == nullptr) return;
  const auto link = degraded(topology, *device, speed_counts);
  if (link.problem.empty()) return;
  auto finding = make_finding("pcie-degraded", name,
                              fmt::format("The PCIe link of {} ({}) runs at {}{}.", name, device->id, link.problem,
                                          link.slot_known ? "" : ", unless its slot has no more"));
  if (!link.slot_known) finding.severity = Severity::info;
  findings.push_back(std::move(finding));
}

}  // namespace

std::vector<Finding> pci_findings(const HostSnapshot& host, const Topology& topology,
                                  const std::vector<GpuChoice>& gpus, const std::vector<HcaChoice>& chosen) {
  std::vector<Finding> findings;
  redirected(host, topology, gpus, findings);
  std::set<std::string> seen;
  for (const auto& hca : chosen)
    if (const auto* device = device_of(host, hca.name); device != nullptr && seen.insert(hca.name).second)
      add_degraded(topology, hca.name, place(topology, *device), true, findings);
  // A GPU lowers its link speed when idle, never its width.
  for (const auto& choice : gpus)
    if (const auto* gpu = gpu_of(host, choice.gpu); gpu != nullptr && gpu->pci)
      add_degraded(topology, fmt::format("gpu {}", gpu->index), *gpu->pci, false, findings);
  return findings;
}

}  // namespace topoguard
