// SPDX-License-Identifier: Apache-2.0
// Whether a process is bound to the CPUs of its communicator's GPU, and why or why not. Pure: facts in, plan out.
// The rules are rows (condition, reason) in plan.cc, tried from the top; the first that holds decides.
// A plan never widens a mask, never empties one, and is never an error.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topoguard/cpu_set.h"
#include "topoguard/policy.h"

namespace topoguard {

struct AffinityFacts {
  Mode mode = Mode::enforce;
  AffinityMode affinity = AffinityMode::automatic;
  std::optional<CpuSet> online;        ///< every CPU of the host that is online
  std::optional<CpuSet> allowed;       ///< the main thread's mask, as it was before any binding of ours
  std::string gpu;                     ///< PCI id of the communicator's GPU; empty where unknown
  std::optional<int> gpu_node;         ///< its NUMA node
  CpuSet gpu_cpus;                     ///< Decision::gpus[].cpus: those of its CPUs that are allowed
  bool gpu_cpus_elsewhere = false;     ///< the GPU has CPUs, and none of them is allowed
  std::vector<CpuSet> other_gpu_cpus;  ///< the same of each other GPU that this process uses
  int cpu_nodes = 0;                   ///< NUMA nodes that have CPUs
  std::optional<int> local_ranks;      ///< ranks of the job on this host
  std::string openmp;                  ///< the OpenMP binding variable that is set, as NAME=value; empty where none
};

enum class AffinityAction : std::uint8_t { leave, bind_process, bind_thread };

struct AffinityPlan {
  AffinityAction action = AffinityAction::leave;
  CpuSet cpus;         ///< where action is not leave: never empty, always inside facts.allowed
  std::string reason;  ///< stable kebab-case identifier of the row
  std::string detail;  ///< for people
};

AffinityPlan plan(const AffinityFacts& facts);

/// Every reason that a plan can have, in the order of the rows.
std::vector<std::string> affinity_reasons();

}  // namespace topoguard
