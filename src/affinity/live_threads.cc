// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <hwloc.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>

#include "affinity/threads.h"

namespace topoguard {
namespace {

struct TopologyDeleter {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, TopologyDeleter>;

// Memory binding needs a topology object, not a discovered one: a synthetic machine loads in microseconds, reads no
// file, and ignores the HWLOC_XMLFILE, HWLOC_FSROOT and HWLOC_COMPONENTS of the host process, which would switch
// binding off. "This system" makes hwloc use the kernel's calls on it all the same.
Topology binding_topology(int nodes) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  Topology topology(raw);
  const std::string shape = "numa:" + std::to_string(nodes) + " pu:1";
  if (hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM) != 0 ||
      hwloc_topology_set_synthetic(raw, shape.c_str()) != 0 || hwloc_topology_load(raw) != 0)
    return nullptr;
  return topology;
}

struct BitmapDeleter {
  void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, BitmapDeleter>;

constexpr std::size_t kMostWords = 16384;  // a million CPUs
constexpr unsigned kWordBits = 8 * sizeof(unsigned long);

class LiveThreadMasks : public ThreadMasks {
 public:
  std::vector<pid_t> threads() override {
    std::vector<pid_t> list{main_thread()};
    if (DIR* directory = opendir("/proc/self/task")) {
      while (const dirent* entry = readdir(directory))
        if (const pid_t thread = static_cast<pid_t>(std::atoi(entry->d_name)); thread > 0 && thread != list.front())
          list.push_back(thread);
      closedir(directory);
    }
    // Without /proc the calling thread is still known.
    if (std::find(list.begin(), list.end(), calling_thread()) == list.end()) list.push_back(calling_thread());
    return list;
  }

  pid_t main_thread() override { return getpid(); }
  pid_t calling_thread() override { return static_cast<pid_t>(syscall(SYS_gettid)); }

  // Not by hwloc: its reading stops at the topology's last CPU, and its topologies take hundreds of allocations, of
  // which hwloc 2.9 checks few (tests/faults: a refused one ends the process). The kernel refuses a buffer that is too
  // small.
  std::optional<CpuSet> mask(pid_t thread) override {
    for (std::vector<unsigned long> words(16); words.size() <= kMostWords; words.resize(words.size() * 2)) {
      const long bytes = syscall(SYS_sched_getaffinity, thread, words.size() * sizeof words[0], words.data());
      if (bytes < 0 && errno == EINVAL) continue;
      if (bytes < 0) return std::nullopt;
      CpuSet set;
      for (unsigned cpu = 0; cpu < static_cast<unsigned>(bytes) * 8; ++cpu)
        if (words[cpu / kWordBits] >> (cpu % kWordBits) & 1) set.insert(cpu);
      return set;
    }
    return std::nullopt;
  }

  int set_mask(pid_t thread, const CpuSet& cpus) override {
    if (cpus.empty()) return EINVAL;
    const auto last = static_cast<unsigned>(hwloc_bitmap_last(cpus.bitmap()));
    std::vector<unsigned long> words(last / kWordBits + 1);
    for (unsigned cpu = 0; cpu <= last; ++cpu)
      if (cpus.contains(cpu)) words[cpu / kWordBits] |= 1ul << (cpu % kWordBits);
    return syscall(SYS_sched_setaffinity, thread, words.size() * sizeof words[0], words.data()) == 0 ? 0 : errno;
  }
};

}  // namespace

ThreadMasks* live_thread_masks() {
  // Never freed: threads of the process may still ask while it exits.
  static auto* const masks = new LiveThreadMasks;
  return masks;
}

int prefer_memory_node(int node) {
  if (node < 0 || node > 1022) return EINVAL;
  // hwloc takes node numbers of the topology only, and a set of all its nodes for "any".
  const Topology topology = binding_topology(node + 2);
  const Bitmap set(hwloc_bitmap_alloc());
  if (!topology || !set) return ENOMEM;
  hwloc_bitmap_set(set.get(), static_cast<unsigned>(node));
  // Without HWLOC_MEMBIND_STRICT hwloc asks the kernel for a preference, not for a limit.
  const int flags = HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET;
  return hwloc_set_membind(topology.get(), set.get(), HWLOC_MEMBIND_BIND, flags) == 0 ? 0 : errno;
}

}  // namespace topoguard
