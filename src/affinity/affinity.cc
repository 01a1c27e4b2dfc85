// SPDX-License-Identifier: Apache-2.0
#include "affinity/affinity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "affinity/cuda_device.h"
#include "host/process_env.h"

namespace topoguard {
namespace {

// What earlier communicators of this process led to. Leaked on purpose: NCCL calls in while the process exits.
struct Memory {
  std::mutex mutex;
  std::vector<std::string> gpus;
  std::optional<MaskChange> binding;
  std::optional<int> ranks;  // what the preload library knew of the communicator whose net plugin is now initialised
};
Memory& memory() {
  static Memory* const instance = new Memory;
  return *instance;
}

std::string describe(const char* what, const MaskChange& change, const AffinityPlan& plan) {
  std::string text =
      fmt::format("affinity: CPUs {} -> {} for {} thread{} ({}: {})", change.before.text(), change.after.text(),
                  change.changed.size(), change.changed.size() == 1 ? "" : "s", what, plan.detail);
  if (change.kept > 0) text += fmt::format(", {} pinned by the job left alone", change.kept);
  return text;
}

}  // namespace

AffinityOutcome apply(const AffinityPlan& plan, const AffinityFacts& facts, ThreadMasks& masks, MaskChange& change) {
  const std::string now = facts.allowed ? facts.allowed->text() : "unknown";
  if (plan.action == AffinityAction::leave)
    return {false, plan.reason, fmt::format("affinity: CPUs left at {} ({}: {})", now, plan.reason, plan.detail)};
  change =
      plan.action == AffinityAction::bind_thread ? narrow_thread(masks, plan.cpus) : narrow_process(masks, plan.cpus);
  if (change.error != 0)  // a seccomp filter or a cpuset that shrank meanwhile
    return {false, "not-permitted",
            fmt::format("affinity: CPUs left at {} (not-permitted: the kernel refused {}: {})", now, plan.cpus.text(),
                        std::strerror(change.error))};
  if (change.changed.empty())
    return {false, "thread-pinned",
            fmt::format("affinity: CPUs left at {} (thread-pinned: the job has pinned this thread itself)",
                        change.before.text())};
  return {true, plan.reason, describe(plan.reason.c_str(), change, plan)};
}

AffinityOutcome bind_for_communicator(const HostSnapshot& host, const Decision& decision, const Policy& policy,
                                      const AffinityRequest& given) noexcept try {
  if (policy.mode == Mode::off || policy.affinity == AffinityMode::off)
    return {false, "affinity-off", "affinity: switched off"};
  ThreadMasks* const masks = live_thread_masks();

  Memory& past = memory();
  const std::lock_guard<std::mutex> lock(past.mutex);
  AffinityRequest request = given;
  if (!request.gpu) request.gpu = current_cuda_device();
  if (request.ranks) past.ranks = request.ranks;
  request.ranks = past.ranks;
  request.other_gpus.insert(request.other_gpus.end(), past.gpus.begin(), past.gpus.end());
  if (request.gpu)
    if (const auto pci = sysfs_pci_id(*request.gpu);
        pci && std::find(past.gpus.begin(), past.gpus.end(), *pci) == past.gpus.end())
      past.gpus.push_back(*pci);

  AffinityFacts facts = affinity_facts(host, decision, policy, request, live_variable);
  facts.allowed = masks->mask(masks->main_thread());
  const bool ours = past.binding && facts.allowed && *facts.allowed == past.binding->after;
  if (ours) facts.allowed = past.binding->before;

  const AffinityPlan next = plan(facts);
  if (ours && next.action == AffinityAction::bind_process && next.cpus == past.binding->after)
    return {true, "already-bound",
            fmt::format("affinity: CPUs {} -> {} since an earlier call (already-bound: {})",
                        past.binding->before.text(), next.cpus.text(), next.detail)};
  // The first GPU's CPUs are no longer what the process should have: another node's GPU has joined it.
  if (ours && (next.reason == "several-nodes" || next.reason == "nothing-to-narrow" ||
               next.action == AffinityAction::bind_process)) {
    restore(*masks, *past.binding);
    const std::string back = past.binding->before.text();
    past.binding.reset();
    if (next.action == AffinityAction::leave)
      return {false, "undone",
              fmt::format("affinity: CPUs back to {} (undone, {}: {})", back, next.reason, next.detail)};
  }
  MaskChange change;
  AffinityOutcome outcome = apply(next, facts, *masks, change);
  if (outcome.bound && next.action == AffinityAction::bind_process) past.binding = change;
  if (outcome.bound && request.own_thread && policy.membind_preferred && facts.gpu_node) {
    const int error = prefer_memory_node(*facts.gpu_node);
    outcome.text += error == 0 ? fmt::format("; memory preferably from node {}", *facts.gpu_node)
                               : fmt::format("; memory policy left alone ({})", std::strerror(error));
  }
  return outcome;
} catch (...) {
  return {false, "mask-unknown", {}};
}

}  // namespace topoguard
