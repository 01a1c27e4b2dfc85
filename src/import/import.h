// SPDX-License-Identifier: Apache-2.0
// What people paste into bug reports, as parts of a host snapshot. Any bytes are fine. Pure; throws nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topoguard/snapshot.h"

namespace topoguard {

enum class Paste : std::uint8_t {
  addresses,  ///< `ip -d -j addr`
  routes,     ///< `ip -j route`, also with -6
  gids,       ///< `show_gids` of MLNX_OFED and rdma-core's scripts
  gpu_paths,  ///< `nvidia-smi topo -m`
  topology,   ///< an NCCL topology file (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE)
};

struct Imported {
  int used = 0;  ///< links, routes, GIDs, paths or devices taken over; 0: nothing in it could be used
  std::vector<std::string>
      problems;  ///< "FILE:LINE: expected ..., found ...; skipped", printable, at most 20 and a closing count
};

/// By what stands in it. nullopt where it is none of the five.
std::optional<Paste> paste_kind(std::string_view text);

/// Adds to the parts of `host`; routes of a second file come behind those of the first. At most 16 MiB.
Imported import_paste(Paste kind, std::string_view text, std::string_view file, HostSnapshot& host);

}  // namespace topoguard
