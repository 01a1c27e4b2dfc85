// SPDX-License-Identifier: Apache-2.0
#include "launch/companions.h"

#include <algorithm>

#include "host/elf_versions.h"
#include "host/environment.h"
#include "host/file.h"
#include "host/library_path.h"
#include "launch/plugin_name.h"

namespace topoguard {
namespace {

struct Row {
  const char* kind;
  const char* variable;
  const char* symbol;       // what the base exports, less its version
  const char* own_library;  // the name that NCCL tries before
  NcclRelease first;        // that looks into the net plugin's library
};

constexpr Row kRows[] = {
    {"tuner", "NCCL_TUNER_PLUGIN", "ncclTunerPlugin_v", "libnccl-tuner.so", {2, 21, 0}},
    {"profiler", "NCCL_PROFILER_PLUGIN", "ncclProfiler_v", "libnccl-profiler.so", {2, 28, 0}},
    // 2.28.7 to 2.29.3 have no variable; there the exported table forwards to the base's.
    {"GIN", "NCCL_GIN_PLUGIN", "ncclGinPlugin_v", "libnccl-gin.so", {2, 29, 7}},
    {"RMA", "NCCL_RMA_PLUGIN", "ncclRmaPlugin_v", "libnccl-rma.so", {2, 30, 7}},
};

// 2.27.3 takes no path in any of these variables (plugin_open.cc).
bool takes_path(const NcclRelease& release) { return !(release.at_least(27) && !release.at_least(27, 5)); }

}  // namespace

std::string expected_base(const HostSnapshot& host, const std::string& base_setting) {
  if (base_setting.find('/') != std::string::npos) return base_setting;
  if (base_setting != "auto") return {};
  const auto named = host.env.find("NCCL_NET_PLUGIN");
  if (named != host.env.end() && !names_only_topoguard(named->second)) return {};
  for (const Plugin& plugin : known(host.plugins))
    if (plugin.kind == "net" && host::base_name(plugin.path) == "libnccl-net.so") return plugin.path;
  return {};
}

Companions companions_of(const std::string& base, const NcclRelease& release, const HostSnapshot& host,
                         const Sources& sources) {
  Companions companions;
  if (base.empty()) return companions;
  const auto exports = host::plugin_exports(base);
  if (!exports) return companions;
  const auto library_path = host::variable(host::environment_entries(sources), "LD_LIBRARY_PATH");
  const host::LibraryPath path(sources, library_path.value_or(""));
  for (const Row& row : kRows) {
    if (release < row.first || host.env.count(row.variable) != 0) continue;
    const bool brings = std::any_of(exports->others.begin(), exports->others.end(),
                                    [&row](const std::string& name) { return name.rfind(row.symbol, 0) == 0; });
    if (!brings || !path.find(row.own_library).empty()) continue;
    if (takes_path(release))
      companions.variables[row.variable] = base;
    else
      companions.lost.emplace_back(row.kind);
  }
  return companions;
}

}  // namespace topoguard
