// SPDX-License-Identifier: Apache-2.0
#include "launch/plugin_name.h"

#include <algorithm>

namespace topoguard {
namespace {

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool is_ours(std::string_view entry) {
  const auto slash = entry.rfind('/');
  const std::string_view file = slash == std::string_view::npos ? entry : entry.substr(slash + 1);
  if (slash == std::string_view::npos && file == "topoguard") return true;
  return (file.substr(0, 11) == "libnccl-net" || file.substr(0, 11) == "libnccl-env") &&
         ends_with(file, "-topoguard.so");
}

}  // namespace

bool names_topoguard(std::string_view value) {
  while (!value.empty()) {
    const auto end = std::min(value.find(','), value.size());
    if (is_ours(value.substr(0, end))) return true;
    value.remove_prefix(std::min(end + 1, value.size()));
  }
  return false;
}

bool names_only_topoguard(std::string_view value) {
  while (!value.empty()) {
    const auto end = std::min(value.find(','), value.size());
    const auto entry = value.substr(0, end);
    if (!entry.empty() && !is_ours(entry) && entry.substr(entry.rfind('/') + 1) != "libnccl-net.so") return false;
    value.remove_prefix(std::min(end + 1, value.size()));
  }
  return true;
}

PluginName name_for_release(std::string_view published, const NcclRelease& release) {
  if (published.find('/') == std::string_view::npos || !names_topoguard(published)) return {};
  if (!release.at_least(21)) return {true, std::nullopt};
  if (release.at_least(27) && !release.at_least(27, 5)) return {true, "libnccl-net.so"};
  return {};
}

bool needs_ref_count(const NcclRelease& release) { return release.at_least(28) && !release.at_least(30); }

}  // namespace topoguard
