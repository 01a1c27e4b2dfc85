// SPDX-License-Identifier: Apache-2.0
// CPU masks of this process's threads: read, narrowed, given back; masks of any width. Nothing here looks at the
// machine's topology. Thread-safety: each call is re-entrant. Threads that come and go meanwhile are skipped.
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

#include "topoguard/cpu_set.h"

namespace topoguard {

/// The seam between the policy and the kernel; tests put their own here. Functions return 0 or an errno.
class ThreadMasks {
 public:
  virtual ~ThreadMasks() = default;
  virtual std::vector<pid_t> threads() = 0;  ///< of this process; the main thread first
  virtual pid_t main_thread() = 0;
  virtual pid_t calling_thread() = 0;
  virtual std::optional<CpuSet> mask(pid_t thread) = 0;
  virtual int set_mask(pid_t thread, const CpuSet& cpus) = 0;
};

/// The live process. Never null.
ThreadMasks* live_thread_masks();

struct MaskChange {
  CpuSet before;
  CpuSet after;
  std::vector<pid_t> changed;
  int kept = 0;   ///< threads that somebody had pinned: left as they were
  int error = 0;  ///< errno of the main (or only) thread's failure; then nothing was changed
};

/// Binds the main thread and every thread whose mask equals the main thread's, the calling one included. New threads
/// that appear meanwhile with the old mask are found again. `cpus` must lie inside the main thread's mask.
MaskChange narrow_process(ThreadMasks& masks, const CpuSet& cpus);

/// Binds the calling thread alone, unless its mask is already narrower than the main thread's.
MaskChange narrow_thread(ThreadMasks& masks, const CpuSet& cpus);

/// Gives `before` back to every thread that still has exactly `after`.
void restore(ThreadMasks& masks, const MaskChange& change);

/// Memory of the calling thread preferably from NUMA node `node` (MPOL_PREFERRED). 0 or an errno.
int prefer_memory_node(int node);

}  // namespace topoguard
