// SPDX-License-Identifier: Apache-2.0
// Where NCCL finds no tuner, profiler, GIN or RMA plugin of its own name, it looks into the net plugin's library: so
// aws-ofi-nccl brings its tuner. With topoguard in the net plugin's place it would look into topoguard's library and
// find none, so the base's library is named in the variable that NCCL has for it.
// Facts: src/plugin/tuner.cc, profiler.cc, gin.cc, rma.cc and plugin_open.cc of NCCL 2.21 to 2.30 (before 2.26:
// src/misc/tuner.cc). All are loaded after the net plugin's init().
#pragma once

#include <map>
#include <string>
#include <vector>

#include "host/sources.h"
#include "nccl_rules/release.h"
#include "topoguard/snapshot.h"

namespace topoguard {

struct Companions {
  std::map<std::string, std::string> variables;  ///< NCCL_TUNER_PLUGIN and the like -> the base's path
  std::vector<std::string> lost;                 ///< "tuner": NCCL alone would use it, and no variable can name it
};

/// For `base`, the file that topoguard wraps. Only what this release would have looked up in the net plugin's library,
/// what the base exports, what the user has not set (`host.env`), and where no file of NCCL's default name is found
/// first.
Companions companions_of(const std::string& base, const NcclRelease& release, const HostSnapshot& host,
                         const Sources& sources);

/// The file that topoguard will wrap as far as the settings and the library path tell; "" for NCCL's own transports.
std::string expected_base(const HostSnapshot& host, const std::string& base_setting);

}  // namespace topoguard
