// SPDX-License-Identifier: Apache-2.0
// What the env plugin answers to NCCL, worked out once: a name has the user's value, ours, or none.
// Thread-safety: immutable after construction; answers are pointers that live as long as the object.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "nccl_rules/release.h"
#include "topoguard/snapshot.h"

namespace topoguard {

class EnvAnswers {
 public:
  EnvAnswers() = default;
  /// `ours`: values of topoguard's for names that the user has not set. `stale`: name and value of variables in the
  /// environment that topoguard published elsewhere; they count as unset while they still have that value.
  EnvAnswers(std::map<std::string, std::string> ours, std::map<std::string, std::string> stale)
      : ours_(std::move(ours)), stale_(std::move(stale)) {}

  /// The answer for `name`, given what the environment says now (null = unset). Null = unset. Never throws.
  const char* answer(const char* name, const char* environment) const noexcept;

  const std::map<std::string, std::string>& ours() const { return ours_; }

 private:
  std::map<std::string, std::string> ours_;
  std::map<std::string, std::string> stale_;
};

struct PluginSituation {
  std::optional<std::string> net_plugin;  ///< the user's NCCL_NET_PLUGIN (environment and nccl.conf)
  bool default_name_is_ours = false;      ///< libnccl-net.so beside this library is this library: an image's default
  std::optional<std::string> foreign;     ///< path of the libnccl-net.so that NCCL alone would load
  NcclRelease release;
};

/// What an env plugin must say about net plugins. This library's SONAME is libnccl-net.so, so that NCCL, asking for
/// that name, would get it although nobody named it, and would miss another one of that name: there the name that NCCL
/// alone would have found is answered instead. Where this library is the net plugin, its unloading is prevented for
/// releases that do not find it again.
std::map<std::string, std::string> plugin_answers(const PluginSituation& situation);

}  // namespace topoguard
