// SPDX-License-Identifier: Apache-2.0
// Another net plugin (HPC-X, aws-ofi-nccl, ...) that NCCL alone would have used: opened by us and wrapped.
//
// Thread-safety: re-entrant. What was opened stays open: NCCL's threads run in it until the process ends.
#pragma once

#include <string>
#include <vector>

namespace topoguard {

struct ForeignPlugin {
  const void* net = nullptr;      ///< the newest ncclNetPlugin_vN that the asking NCCL knows
  int net_version = 0;            ///< its N
  const void* collnet = nullptr;  ///< the newest ncclCollNetPlugin_vN that it knows, may be null
  int collnet_version = 0;
  const void* gin = nullptr;  ///< its ncclGinPlugin_v11, may be null
  std::string net_name;       ///< what its net table calls itself, for NCCL_NET
  std::string path;           ///< the file as the linker has it
  std::vector<int> versions;  ///< every version that it exports
  bool ours = false;          ///< it is topoguard itself under another name
  std::string problem;        ///< why it cannot be wrapped
};

/// `name` is a path, or a library name for the linker's search (never libnccl-net.so: that is our own SONAME). `api` is
/// the net API version of the NCCL that asks: like NCCL, it takes the newest table that is not newer.
ForeignPlugin open_foreign(const std::string& name, int api);

}  // namespace topoguard
