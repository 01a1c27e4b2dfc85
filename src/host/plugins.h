// SPDX-License-Identifier: Apache-2.0
// Other NCCL plugins that NCCL would find on this host: libnccl-net.so and libnccl-env.so, and the names that
// NCCL_NET_PLUGIN and NCCL_ENV_PLUGIN give (src/plugin/plugin_open.cc of NCCL 2.28: the value itself, then
// libnccl-KIND-VALUE.so). topoguard's own file is not one of them, under whatever name and from whatever place. Files
// are read, never loaded.
#pragma once

#include <string>
#include <vector>

#include "host/sources.h"
#include "topoguard/snapshot.h"

namespace topoguard::host {

/// Fills out.plugins, in the order in which NCCL would come to them. `own_library` is topoguard's own path, may be
/// empty; it spares reading the file.
void read_plugins(const Sources& sources, const std::vector<std::string>& entries, const std::string& own_library,
                  HostSnapshot& out);

}  // namespace topoguard::host
