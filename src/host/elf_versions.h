// SPDX-License-Identifier: Apache-2.0
// Which NCCL plugin symbols a shared library exports, by a bounded read of its ELF section headers and dynamic symbols
// (System V gABI, chapters 4 and 5). The library is not loaded: its constructors do not run.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace topoguard::host {

struct PluginExports {
  std::vector<std::string> net;  ///< "v11", "v10", ... newest first, of ncclNetPlugin_vN
  std::vector<std::string> env;  ///< of ncclEnvPlugin_vN
  std::vector<std::string>
      others;  ///< "ncclTunerPlugin_v3": its tuner, profiler, GIN and RMA tables, as they are named
  std::string soname;
  bool ours = false;  ///< it carries topoguard's note
};

/// nullopt where the file cannot be read or is no 64-bit little-endian ELF library with sane tables.
std::optional<PluginExports> plugin_exports(const std::string& path);

}  // namespace topoguard::host
