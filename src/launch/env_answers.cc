// SPDX-License-Identifier: Apache-2.0
#include "launch/env_answers.h"

#include <cstring>

#include "launch/plugin_name.h"

namespace topoguard {

const char* EnvAnswers::answer(const char* name, const char* environment) const noexcept {
  // Both maps are short, and comparing C strings by hand keeps std::string, and so memory, out of it.
  if (environment != nullptr) {
    for (const auto& [stale, value] : stale_)
      if (std::strcmp(stale.c_str(), name) == 0 && value == environment) {
        environment = nullptr;
        break;
      }
    if (environment != nullptr) return environment;
  }
  for (const auto& [ours, value] : ours_)
    if (std::strcmp(ours.c_str(), name) == 0) return value.c_str();
  return nullptr;
}

std::map<std::string, std::string> plugin_answers(const PluginSituation& situation) {
  std::map<std::string, std::string> answers;
  bool ours = false;
  if (situation.net_plugin) {
    ours = names_topoguard(*situation.net_plugin) ||
           (*situation.net_plugin == "libnccl-net.so" && situation.default_name_is_ours);
  } else if (situation.default_name_is_ours) {
    ours = true;
  } else {
    answers["NCCL_NET_PLUGIN"] = situation.foreign.value_or("none");
  }
  if (ours && needs_ref_count(situation.release)) answers["NCCL_NET_PLUGIN_REF_COUNT"] = "1";
  return answers;
}

}  // namespace topoguard
