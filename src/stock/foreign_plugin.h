// SPDX-License-Identifier: Apache-2.0
// Another net plugin (HPC-X, aws-ofi-nccl, ...) that NCCL alone would have used: opened by us and wrapped.
//
// Thread-safety: re-entrant. What was opened stays open: NCCL's threads run in it until the process ends.
#pragma once

#include <string>
#include <vector>

namespace topoguard {

struct ForeignPlugin {
  const void* net = nullptr;      ///< its ncclNetPlugin_vN of the version that was asked for
  const void* collnet = nullptr;  ///< its ncclCollNetPlugin_vN, may be null
  std::string path;               ///< the file as the linker has it
  std::vector<int> versions;      ///< every version that it exports
  bool ours = false;              ///< it is topoguard itself under another name
  std::string problem;            ///< why it cannot be wrapped
};

/// `name` is a path, or a library name for the linker's search (never libnccl-net.so: that is our own SONAME).
ForeignPlugin open_foreign(const std::string& name, int api);

}  // namespace topoguard
