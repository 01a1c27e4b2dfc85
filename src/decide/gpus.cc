// SPDX-License-Identifier: Apache-2.0
#include "decide/gpus.h"

#include <fmt/format.h>

#include <algorithm>

#include "decide/findings.h"
#include "decide/pci_findings.h"

namespace topoguard {

namespace {

const RdmaDevice* device_of(const HostSnapshot& host, std::string_view name) {
  for (const auto& device : known(host.rdma))
    if (device.name == name) return &device;
  return nullptr;
}

void find_nearest(const HostSnapshot& host, const Topology& topology, const Gpu& gpu,
                  const std::vector<HcaChoice>& chosen, GpuChoice& choice) {
  for (const auto& hca : chosen) {
    const auto* device = device_of(host, hca.name);
    const auto path = device != nullptr ? topology.path(gpu, *device) : std::nullopt;
    if (!path || (choice.path && *path > *choice.path)) continue;
    if (choice.path != path) choice.nearest.clear();
    choice.path = path;
    if (choice.nearest.empty() || choice.nearest.back() != hca.name) choice.nearest.push_back(hca.name);
  }
}

std::vector<const Gpu*> by_index(const HostSnapshot& host) {
  std::vector<const Gpu*> gpus;
  for (const auto& gpu : known(host.gpus)) gpus.push_back(&gpu);
  std::stable_sort(gpus.begin(), gpus.end(), [](const Gpu* a, const Gpu* b) {
    return a->index != b->index ? a->index < b->index : a->pci.value_or("") < b->pci.value_or("");
  });
  gpus.erase(std::unique(gpus.begin(), gpus.end(), [](const Gpu* a, const Gpu* b) { return a->index == b->index; }),
             gpus.end());
  return gpus;
}

std::string list(const std::vector<int>& gpus) {
  std::string text = gpus.size() > 1 ? "GPUs " : "GPU ";
  for (std::size_t i = 0; i < gpus.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(gpus[i]);
  return text;
}

}  // namespace

GpuResult choose_gpus(const HostSnapshot& host, const Topology& topology, const std::vector<HcaChoice>& chosen) {
  GpuResult result;
  std::vector<int> hidden, unmet;
  const auto& allowed = host.process.cpus_allowed;
  for (const auto* gpu : by_index(host)) {
    GpuChoice choice;
    choice.gpu = gpu->index;
    choice.numa_node = topology.numa_node(*gpu);
    find_nearest(host, topology, *gpu, chosen, choice);
    const auto near = topology.cpus(*gpu);
    if (near) choice.cpus = allowed ? *near & *allowed : *near;
    const auto name = fmt::format("gpu {}", gpu->index);
    if (!near) {
      if (!choice.numa_node) hidden.push_back(gpu->index);
      result.trace.push_back({name, "numa-unknown", "its CPUs are not known: left alone"});
    } else if (choice.cpus.empty()) {
      if (!host.process.gpu || *host.process.gpu == gpu->index) unmet.push_back(gpu->index);
      result.trace.push_back({name, "affinity-empty", "its CPUs are " + near->text() + ", none of them allowed"});
    } else {
      result.trace.push_back({name, "affinity", "bind to " + choice.cpus.text() + " of " + near->text()});
    }
    result.gpus.push_back(std::move(choice));
  }
  if (!hidden.empty())
    result.findings.push_back(
        make_finding("numa-unknown", "",
                     fmt::format("The platform hides on which NUMA node {} sits: nothing is bound.", list(hidden))));
  if (!unmet.empty())
    result.findings.push_back(
        make_finding("affinity-empty", "",
                     fmt::format("None of the CPUs granted to this process ({}) is near {}: its mask is left alone.",
                                 allowed->text(), list(unmet))));
  for (auto& finding : pci_findings(host, topology, result.gpus, chosen)) result.findings.push_back(std::move(finding));
  return result;
}

}  // namespace topoguard
