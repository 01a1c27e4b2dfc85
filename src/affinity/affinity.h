// SPDX-License-Identifier: Apache-2.0
// Binding at communicator creation: the one call that a front end makes. It remembers, per process, which GPUs earlier
// communicators used and what was bound for them; when a communicator on a GPU of another NUMA node follows, the
// binding is taken back.
//
// Thread-safety: any thread; calls are serialised. Never throws, never fails: the outcome says why nothing was done.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "affinity/plan.h"
#include "affinity/ranks.h"
#include "affinity/threads.h"
#include "topoguard/decision.h"
#include "topoguard/policy.h"
#include "topoguard/snapshot.h"

namespace topoguard {

struct AffinityRequest {
  std::optional<std::string> gpu;       ///< PCI id of the communicator's GPU; empty = ask the current CUDA context
  std::vector<std::string> other_gpus;  ///< PCI ids of further GPUs that this process is known to use
  std::optional<int> ranks;             ///< of the communicator, where known: 1 means no other rank anywhere
  std::optional<int> local_ranks;       ///< ranks on this host, where the caller knows and no launcher tells
  bool own_thread = false;  ///< the caller is the user's own thread (preload, exec): its memory policy counts
};

struct AffinityOutcome {
  bool bound = false;
  std::string reason;  ///< of the plan, or "not-permitted", "undone"
  std::string text;    ///< one line: mask before, mask after, why or why not
};

AffinityOutcome bind_for_communicator(const HostSnapshot& host, const Decision& decision, const Policy& policy,
                                      const AffinityRequest& request) noexcept;

// The parts, for tests and for `topoguard exec`.

/// Everything that plan() needs but the masks. PCI id to NUMA node and CPUs goes through the snapshot and the decision,
/// which know sysfs, NCCL topology files and recorded paths.
AffinityFacts affinity_facts(const HostSnapshot& host, const Decision& decision, const Policy& policy,
                             const AffinityRequest& request, const EnvLookup& env);

/// Carries out a plan on `masks` and describes it. `change` receives what was changed.
AffinityOutcome apply(const AffinityPlan& plan, const AffinityFacts& facts, ThreadMasks& masks, MaskChange& change);

}  // namespace topoguard
