// SPDX-License-Identifier: Apache-2.0
// How topoguard's net plugin must be named for one NCCL release. The preload library's constructor, which knows no
// release, names it by path. Source: plugin/net.cc and plugin/plugin_open.cc of each release (docs/nccl-abi.md, 3.1).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "nccl_rules/release.h"

namespace topoguard {

/// Does a value of NCCL_NET_PLUGIN (or _ENV_PLUGIN), one entry or a list, name topoguard? By name or by path.
bool names_topoguard(std::string_view value);

/// The same, and nobody else: NCCL's default name counts as nobody.
bool names_only_topoguard(std::string_view value);

struct PluginName {
  bool change = false;               ///< false: what is set works with this release
  std::optional<std::string> value;  ///< the new value; empty = the variable must not be set
};

/// What to do about a value that the preload library's constructor published. Releases that take no path are given the
/// library's SONAME, by which the dynamic linker finds it where it is loaded already, or nothing, which means the same
/// name to the oldest ones.
PluginName name_for_release(std::string_view published, const NcclRelease& release);

/// Releases in which a plugin that was unloaded with its last communicator is not found again (2.28 to 2.29.7);
/// NCCL_NET_PLUGIN_REF_COUNT=1 keeps it.
bool needs_ref_count(const NcclRelease& release);

}  // namespace topoguard
