// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>

#include "affinity/affinity.h"
#include "affinity/cuda_device.h"

namespace topoguard {
namespace {

struct NearCpus {
  std::optional<int> node;
  CpuSet allowed;          // of the GPU's CPUs
  bool elsewhere = false;  // it has CPUs, none of them allowed
};

const Gpu* find_gpu(const HostSnapshot& host, const std::string& pci) {
  for (const Gpu& gpu : known(host.gpus))
    if (gpu.pci && sysfs_pci_id(*gpu.pci) == pci) return &gpu;
  return nullptr;
}

NearCpus near_cpus(const HostSnapshot& host, const Decision& decision, const std::string& pci) {
  NearCpus near;
  const Gpu* gpu = find_gpu(host, pci);
  if (gpu == nullptr) return near;
  near.node = gpu->numa_node;
  for (const GpuChoice& choice : decision.gpus) {
    if (choice.gpu != gpu->index) continue;
    if (choice.numa_node) near.node = choice.numa_node;
    near.allowed = choice.cpus;
  }
  // Empty stands for "no CPU of it is allowed" and for "not known"; the reasons differ for people.
  if (near.allowed.empty())
    for (const NumaNode& node : known(host.numa))
      if (near.node == node.node && !node.cpus.empty()) near.elsewhere = true;
  return near;
}

std::string openmp_setting(const EnvLookup& env) {
  // OpenMP 5.2 section 21.4 ("false": threads may move); the manuals of libgomp and of LLVM's libomp ("none").
  for (const char* name : {"OMP_PROC_BIND", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"}) {
    auto value = env(name);
    if (!value) continue;
    std::string lower = *value;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
    if (!lower.empty() && lower != "false" && lower != "none" && lower != "disabled") return name + ("=" + *value);
  }
  return {};
}

}  // namespace

AffinityFacts affinity_facts(const HostSnapshot& host, const Decision& decision, const Policy& policy,
                             const AffinityRequest& request, const EnvLookup& env) {
  AffinityFacts facts;
  facts.mode = policy.mode;
  facts.affinity = policy.affinity;
  facts.openmp = openmp_setting(env);
  facts.local_ranks = local_ranks(env);
  if (!facts.local_ranks) facts.local_ranks = request.ranks == 1 ? request.ranks : request.local_ranks;

  CpuSet all;
  for (const NumaNode& node : known(host.numa)) {
    if (!node.cpus.empty()) ++facts.cpu_nodes;
    all = all | node.cpus;
  }
  if (!all.empty()) facts.online = all;

  if (request.gpu) {
    facts.gpu = sysfs_pci_id(*request.gpu).value_or(*request.gpu);
    const NearCpus near = near_cpus(host, decision, facts.gpu);
    facts.gpu_node = near.node;
    facts.gpu_cpus = near.allowed;
    facts.gpu_cpus_elsewhere = near.elsewhere;
  }
  for (const std::string& other : request.other_gpus) {
    const auto pci = sysfs_pci_id(other);
    if (!pci || *pci == facts.gpu) continue;
    const NearCpus near = near_cpus(host, decision, *pci);
    if (!near.allowed.empty()) facts.other_gpu_cpus.push_back(near.allowed);
  }
  return facts;
}

}  // namespace topoguard
