// SPDX-License-Identifier: Apache-2.0
#include "affinity/threads.h"

#include <cerrno>
#include <set>

namespace topoguard {
namespace {

// A thread created by one that is not bound yet inherits the old mask: look again until a pass finds nothing new.
constexpr int kPasses = 4;

}  // namespace

MaskChange narrow_process(ThreadMasks& masks, const CpuSet& cpus) {
  MaskChange change;
  const pid_t main = masks.main_thread();
  const auto before = masks.mask(main);
  if (!before) {
    change.error = ESRCH;
    return change;
  }
  change.before = *before;
  change.after = cpus & *before;
  if (change.after.empty() || change.after == *before) return change;

  if ((change.error = masks.set_mask(main, change.after)) != 0) return change;
  change.changed.push_back(main);
  std::set<pid_t> seen{main};
  for (int pass = 0; pass < kPasses; ++pass) {
    bool found = false;
    for (const pid_t thread : masks.threads()) {
      if (!seen.insert(thread).second) continue;
      const auto mask = masks.mask(thread);
      if (!mask || *mask == change.after) continue;
      if (!(*mask == change.before)) {
        ++change.kept;
        continue;
      }
      if (masks.set_mask(thread, change.after) != 0) continue;
      change.changed.push_back(thread);
      found = true;
    }
    if (!found) break;
  }
  return change;
}

MaskChange narrow_thread(ThreadMasks& masks, const CpuSet& cpus) {
  MaskChange change;
  const pid_t self = masks.calling_thread();
  const auto before = masks.mask(self);
  const auto main = masks.mask(masks.main_thread());
  if (!before) {
    change.error = ESRCH;
    return change;
  }
  change.before = *before;
  change.after = cpus & *before;
  if (main && !(*main == *before)) {
    change.kept = 1;
    change.after = *before;
    return change;
  }
  if (change.after.empty() || change.after == *before) return change;
  if ((change.error = masks.set_mask(self, change.after)) == 0) change.changed.push_back(self);
  return change;
}

void restore(ThreadMasks& masks, const MaskChange& change) {
  if (change.changed.empty()) return;
  for (const pid_t thread : masks.threads()) {
    const auto mask = masks.mask(thread);
    if (mask && *mask == change.after) masks.set_mask(thread, change.before);
  }
}

}  // namespace topoguard
