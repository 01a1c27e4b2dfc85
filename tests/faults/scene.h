// SPDX-License-Identifier: Apache-2.0
// One job's worth of calls, in the process that calls it: the plugin library is opened and used as NCCL uses it, with a
// mock NCCL around it. What must hold whatever fails is checked on the way.
#pragma once

#include <string>
#include <vector>

namespace faults {

struct Place {
  std::string plugin;      ///< libnccl-net-topoguard.so
  std::string mocks;       ///< folder of the mock NCCLs
  std::string collectors;  ///< the library of collectors.cc
  std::string scratch;     ///< for log and metrics files
};

/// "net" (API v11), "old" (v8), "env" (the env plugin and the preload library's hook before it), "files" (with log and
/// metrics files, all subjects, counters), "rdma" (the collectors alone, over a /sys with HCAs). Besides, "as-is":
/// "net" with the variables of the caller.
extern const std::vector<std::string> kScenes;

/// Sets the variables, and opens the mock. Before any fault.
void prepare(const Place& place, const std::string& scene);

/// Runs it. Returns what did not hold, "" if all did. `declined`: the first init() did not succeed, so NCCL would go on
/// with its own transports.
std::string play(const Place& place, const std::string& scene, bool* declined);

/// What a process must not lose or change: descriptors, the signal mask, the user's own variables.
std::string belongings();

}  // namespace faults
