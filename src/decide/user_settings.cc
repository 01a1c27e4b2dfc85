// SPDX-License-Identifier: Apache-2.0
#include "decide/user_settings.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <set>

namespace topoguard {
namespace {

/// TOPOGUARD_APPLIED is "<boot id + network namespace>:<names>", names separated by commas.
std::set<std::string, std::less<>> applied_names(const HostSnapshot& host) {
  std::set<std::string, std::less<>> names;
  const auto at = host.env.find("TOPOGUARD_APPLIED");
  if (at == host.env.end()) return names;
  std::string_view list = at->second;
  const auto colon = list.rfind(':');
  list.remove_prefix(colon == std::string_view::npos ? list.size() : colon + 1);
  while (!list.empty()) {
    const auto comma = list.find(',');
    names.emplace(list.substr(0, comma));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return names;
}

}  // namespace

bool same_network_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

bool is_our_plugin(std::string_view plugin) {
  const auto slash = plugin.rfind('/');
  if (slash != std::string_view::npos) plugin.remove_prefix(slash + 1);
  return plugin == "topoguard" || plugin.rfind("libnccl-net-topoguard.so", 0) == 0;
}

bool network_is_missing(const View& view, const UserSettings& user) {
  const auto* net = user.find("NCCL_NET");
  if (!net || net->empty()) return false;
  for (const char* own : {"IB", "Socket", "topoguard"})
    if (same_network_name(*net, own)) return false;
  if (view.host().topoguard.config.count("TOPOGUARD_BASE") != 0 || !view.host().plugins) return false;
  const auto& plugins = *view.host().plugins;
  return std::none_of(plugins.begin(), plugins.end(),
                      [](const Plugin& p) { return p.kind == "net" && !is_our_plugin(p.path); });
}

const std::string* UserSettings::find(std::string_view name) const {
  const auto at = nccl.find(name);
  return at == nccl.end() ? nullptr : &at->second;
}

FindVariable UserSettings::finder() const {
  return [this](std::string_view name) { return find(name); };
}

std::optional<std::int64_t> UserSettings::number(std::string_view name) const {
  const auto* text = find(name);
  if (!text || text->empty()) return std::nullopt;
  const int before = errno;
  errno = 0;
  const auto value = std::strtoll(text->c_str(), nullptr, 0);
  const bool out_of_range = errno != 0;
  errno = before;
  if (out_of_range) return std::nullopt;
  return value;
}

UserSettings read_user_settings(const View& view) {
  UserSettings user;
  const auto ours = applied_names(view.host());
  for (const auto& [name, value] : view.host().env)
    if (name.rfind("NCCL_", 0) == 0 && ours.find(name) == ours.end()) user.nccl.emplace(name, value);

  if (const auto* list = user.find("NCCL_SOCKET_IFNAME"); list && list->size() > 1)
    user.ifname = NameList::parse(*list, kMaxInterfaces);
  if (const auto* list = user.find("NCCL_IB_HCA"); list && !list->empty())
    user.hca = NameList::parse(*list, static_cast<std::size_t>(view.release().max_hcas()));
  if (const auto* family = user.find("NCCL_SOCKET_FAMILY")) {
    if (*family == "AF_INET") user.family = Family::inet;
    if (*family == "AF_INET6") user.family = Family::inet6;
  }
  if (const auto* net = user.find("NCCL_NET")) {
    if (net->empty()) user.no_network = "NCCL_NET=\"\"";
    const auto* disable = user.find("NCCL_IB_DISABLE");
    if (same_network_name(*net, "IB") && user.number("NCCL_IB_DISABLE").value_or(0) != 0)
      user.no_network = "NCCL_NET=" + *net + " and NCCL_IB_DISABLE=" + *disable;
    if (network_is_missing(view, user)) user.no_network = "NCCL_NET=" + *net;
    if (same_network_name(*net, "Socket")) user.rdma_off_by = "NCCL_NET=" + *net;
  }
  if (user.rdma_off_by.empty() && user.number("NCCL_IB_DISABLE").value_or(0) != 0)
    user.rdma_off_by = "NCCL_IB_DISABLE=" + *user.find("NCCL_IB_DISABLE");
  return user;
}

}  // namespace topoguard
