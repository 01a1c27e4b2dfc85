// SPDX-License-Identifier: Apache-2.0
#include "affinity/plan.h"

#include <fmt/format.h>

namespace topoguard {
namespace {

bool automatic(const AffinityFacts& f) { return f.affinity == AffinityMode::automatic; }

// One communicator's GPU among several that the process uses: the whole process goes to none of them alone.
CpuSet all_gpu_cpus(const AffinityFacts& f) {
  CpuSet cpus = f.gpu_cpus;
  for (const CpuSet& other : f.other_gpu_cpus) cpus = cpus | other;
  return cpus;
}

bool several_nodes(const AffinityFacts& f) {
  for (const CpuSet& other : f.other_gpu_cpus)
    if (!(other == f.gpu_cpus)) return true;
  return false;
}

CpuSet target(const AffinityFacts& f) {
  const CpuSet cpus = f.affinity == AffinityMode::process ? all_gpu_cpus(f) : f.gpu_cpus;
  return cpus & *f.allowed;
}

struct Row {
  const char* reason;
  bool (*applies)(const AffinityFacts&);
  std::string (*detail)(const AffinityFacts&);
};

// A row below may rely on what the rows above it have ruled out: from "gpu-cpus-unknown" on, the masks are known.
const Row kRows[] = {
    {"affinity-off", [](const AffinityFacts& f) { return f.affinity == AffinityMode::off || f.mode == Mode::off; },
     [](const AffinityFacts&) { return std::string("switched off"); }},
    {"mask-unknown", [](const AffinityFacts& f) { return !f.allowed || f.allowed->empty(); },
     [](const AffinityFacts&) { return std::string("the kernel does not tell which CPUs this process may use"); }},
    {"gpu-unknown", [](const AffinityFacts& f) { return f.gpu.empty(); },
     [](const AffinityFacts&) {
       return std::string("no CUDA context is current here, so the communicator's GPU is not known");
     }},
    {"affinity-empty",
     [](const AffinityFacts& f) { return f.gpu_cpus_elsewhere || (!f.gpu_cpus.empty() && target(f).empty()); },
     [](const AffinityFacts& f) {
       return fmt::format("none of the GPU's CPUs is among the allowed ones, {}", f.allowed->text());
     }},
    {"numa-unknown", [](const AffinityFacts& f) { return f.gpu_cpus.empty(); },
     [](const AffinityFacts&) { return std::string("the platform does not tell which CPUs are near the GPU"); }},
    {"online-unknown", [](const AffinityFacts& f) { return automatic(f) && (!f.online || f.online->empty()); },
     [](const AffinityFacts&) { return std::string("whether somebody narrowed the mask before cannot be told"); }},
    {"mask-narrowed", [](const AffinityFacts& f) { return automatic(f) && !f.online->is_subset_of(*f.allowed); },
     [](const AffinityFacts& f) {
       return fmt::format("taskset, a cpuset or the launcher has already narrowed {} to it", f.online->text());
     }},
    {"openmp-bound", [](const AffinityFacts& f) { return automatic(f) && !f.openmp.empty(); },
     [](const AffinityFacts& f) { return fmt::format("{} places this process's threads", f.openmp); }},
    {"several-nodes", [](const AffinityFacts& f) { return automatic(f) && several_nodes(f); },
     [](const AffinityFacts&) { return std::string("this process uses GPUs of several NUMA nodes"); }},
    {"nothing-to-narrow", [](const AffinityFacts& f) { return f.allowed->is_subset_of(target(f)); },
     [](const AffinityFacts&) { return std::string("all of them are the GPU's own"); }},
    {"only-rank",
     [](const AffinityFacts& f) { return automatic(f) && f.cpu_nodes > 1 && f.local_ranks && *f.local_ranks < 2; },
     [](const AffinityFacts& f) {
       return fmt::format("the only rank on a host of {} NUMA nodes may use them all", f.cpu_nodes);
     }},
    {"ranks-unknown", [](const AffinityFacts& f) { return automatic(f) && f.cpu_nodes > 1 && !f.local_ranks; },
     [](const AffinityFacts&) {
       return std::string(
           "no launcher tells how many ranks share this host; TOPOGUARD_AFFINITY=process binds all the same");
     }},
    {"observe", [](const AffinityFacts& f) { return f.mode == Mode::observe; },
     [](const AffinityFacts& f) { return fmt::format("TOPOGUARD_MODE=observe; would bind to {}", target(f).text()); }},
};

}  // namespace

AffinityPlan plan(const AffinityFacts& facts) {
  for (const Row& row : kRows)
    if (row.applies(facts)) return {AffinityAction::leave, {}, row.reason, row.detail(facts)};
  const bool thread = facts.affinity == AffinityMode::thread;
  std::string where = facts.gpu_node ? fmt::format("GPU {} is on NUMA node {}", facts.gpu, *facts.gpu_node)
                                     : fmt::format("these CPUs are local to GPU {}", facts.gpu);
  return {thread ? AffinityAction::bind_thread : AffinityAction::bind_process, target(facts),
          thread ? "bind-thread" : "bind-process", std::move(where)};
}

std::vector<std::string> affinity_reasons() {
  std::vector<std::string> reasons;
  for (const Row& row : kRows) reasons.emplace_back(row.reason);
  reasons.insert(reasons.end(), {"bind-process", "bind-thread"});
  return reasons;
}

}  // namespace topoguard
