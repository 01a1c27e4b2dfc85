// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "decide/checks.h"
#include "decide/findings.h"

namespace topoguard {
namespace {

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

/// The driver's product names of GPUs that come on NVLink boards only. From Hopper on they do not say SXM: "NVIDIA H100
/// 80GB HBM3", "NVIDIA H200", "NVIDIA GB200"; the PCIe cards beside them say PCIe or NVL (bridged pairs).
bool nvlink_gpu(const std::string& name) {
  const auto text = " " + upper(name) + " ";
  const auto has = [&](std::string_view word) { return text.find(word) != std::string::npos; };
  if (has("PCIE") || has(" NVL ")) return false;
  constexpr std::array<std::string_view, 12> kBoards{"SXM",    "HGX",    " HBM3 ", " H20 ",   " H200 ",  " H800 ",
                                                     " B100 ", " B200 ", " B300 ", " GB200 ", " GB300 ", " HBM3E "};
  return std::any_of(kBoards.begin(), kBoards.end(), has);
}

/// The GPUs talk over NVLink, so that a level that allows nothing but NVLink takes nothing away.
bool nvlink_board(const std::vector<Gpu>& gpus) {
  return std::all_of(gpus.begin(), gpus.end(), [](const Gpu& gpu) { return gpu.name && nvlink_gpu(*gpu.name); });
}

/// Below PXB, NCCL's own level (graph/paths.cc ncclTopoCheckP2p): transfers through PCIe switches are lost. Old
/// releases' numbers are still read: 0 is LOC, 1 PIX (graph/topo.cc ncclGetLevel).
bool low_level(const std::string& level, const std::vector<Gpu>& gpus) {
  if (level == "LOC" || level == "0" || level == "PIX" || level == "1") return true;
  return level == "NVL" && !nvlink_board(gpus);
}

void p2p_disabled(const View& view, const UserSettings& user, std::vector<Finding>& findings) {
  const auto& gpus = known(view.host().gpus);
  if (gpus.size() < 2) return;
  const auto& pci = known(view.host().pci);
  // With ACS on the bridges, direct transfers can hang: then it is a cure.
  if (std::any_of(pci.begin(), pci.end(), [](const PciDevice& d) { return d.acs_redirect.value_or(false); })) return;
  std::string setting;
  if (user.number("NCCL_P2P_DISABLE").value_or(0) == 1) {
    setting = "NCCL_P2P_DISABLE=" + *user.find("NCCL_P2P_DISABLE");
  } else if (const auto* level = user.find("NCCL_P2P_LEVEL"); level && low_level(*level, gpus)) {
    setting = "NCCL_P2P_LEVEL=" + *level;
  } else {
    return;
  }
  findings.push_back(make_finding(
      "p2p-disabled", "",
      setting + " sends the traffic between this host's " + std::to_string(gpus.size()) + " GPUs through host memory"));
}

void shm_small(const View& view, std::vector<Finding>& findings) {
  constexpr std::int64_t kPerGpu = std::int64_t{64} << 20;
  const auto gpus = static_cast<std::int64_t>(known(view.host().gpus).size());
  const auto& bytes = view.host().shm_bytes;
  if (!bytes || *bytes < 0 || gpus == 0 || *bytes >= gpus * kPerGpu) return;
  findings.push_back(make_finding("shm-small", "",
                                  "/dev/shm has " + std::to_string(*bytes >> 20) + " MiB for " + std::to_string(gpus) +
                                      " GPUs: NCCL's shared-memory buffers may not fit"));
}

/// The plugin names of NCCL_NET_PLUGIN: one up to 2.27, a comma list since.
std::vector<std::string> plugin_names(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const auto comma = text.find(',');
    if (comma != 0) names.emplace_back(text.substr(0, comma));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return names;
}

/// The user's setting by which NCCL does not call us as a net plugin; "" where none does.
std::string bypassing(const View& view, const UserSettings& user) {
  // Our tables bear the name of somebody else's network (wrap/adopted_name.h).
  if (const auto* net = user.find("NCCL_NET");
      net && (net->empty() || same_network_name(*net, "IB") || same_network_name(*net, "Socket")))
    return "NCCL_NET=" + (net->empty() ? std::string("\"\"") : *net);
  const auto* plugin = user.find("NCCL_NET_PLUGIN");
  if (!plugin) return "";
  if (plugin->empty()) return view.release().empty_plugin_is_none() ? "NCCL_NET_PLUGIN=\"\"" : "";
  const auto names = plugin_names(*plugin);
  return std::any_of(names.begin(), names.end(), is_our_plugin) ? "" : "NCCL_NET_PLUGIN=" + *plugin;
}

void plugins(const View& view, const UserSettings& user, std::vector<Finding>& findings) {
  if (network_is_missing(view, user))
    findings.push_back(
        make_finding("base-network-missing", "",
                     "NCCL_NET=" + *user.find("NCCL_NET") +
                         " allows no other network, and no plugin that brings it is in the library path: "
                         "NCCL ends with an error"));
  // The env plugin, the preload library and exec act without being a net plugin.
  const auto front_end = view.host().topoguard.front_end.value_or("tool");
  if (front_end != "net" && front_end != "tool") return;
  if (const auto setting = bypassing(view, user); !setting.empty()) {
    findings.push_back(make_finding("plugin-bypassed", "", setting + " keeps NCCL from calling topoguard"));
    return;
  }
  const auto* named = user.find("NCCL_NET_PLUGIN");
  if (front_end == "net" || (named && !named->empty())) return;
  for (const auto& plugin : known(view.host().plugins)) {
    if (plugin.kind != "net" || is_our_plugin(plugin.path)) continue;
    findings.push_back(make_finding("plugin-shadowed", "",
                                    "NCCL loads " + plugin.path + " by its default name, and topoguard is not asked"));
    return;
  }
}

}  // namespace

std::vector<Finding> check_host(const View& view, const UserSettings& user) {
  std::vector<Finding> findings;
  p2p_disabled(view, user, findings);
  shm_small(view, findings);
  plugins(view, user, findings);
  return findings;
}

}  // namespace topoguard
