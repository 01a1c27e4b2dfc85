// SPDX-License-Identifier: Apache-2.0
#include "decide/gid_trace.h"

#include <fmt/format.h>

#include <algorithm>

namespace topoguard {
namespace {

constexpr std::size_t kMost = 16;  // of each kind; a host with virtual functions has hundreds

std::string described(const UsableGid& gid) {
  const auto& entry = *gid.entry;
  return fmt::format("index {}: {}, {}{}", entry.index, entry.gid.address().text(),
                     entry.type.value_or("type unreadable"), gid.netdev != nullptr ? ", on " + gid.netdev->ifname : "");
}

}  // namespace

std::string why_after(const UsableGid& best, const UsableGid& gid) {
  const auto &a = best.rank, &b = gid.rank;
  if (a.link_local != b.link_local) return "link-local";
  if (a.policy_subnet != b.policy_subnet) return "TOPOGUARD_SUBNETS prefers the other's subnet";
  if (a.version != b.version) return b.version == 2 ? "RoCE version unreadable" : "an older RoCE version";
  if (a.other_family != b.other_family) return "of the family that is not the cluster's";
  if (a.outside_peers != b.outside_peers) return "outside the peers' subnets";
  if (a.deprecated != b.deprecated) return "its address is deprecated";
  if (a.shadow != b.shadow) return "the same address on a virtual device";
  return "as good, with a higher index";
}

void trace_gids(const std::string& device, const RdmaPort& port, const PortGids& gids, std::vector<RuleMatch>& trace) {
  const auto add = [&](const std::string& text) {
    trace.push_back({device, "gid", fmt::format("port {}, {}", port.port, text)});
  };
  for (std::size_t i = 0; i < std::min(kMost, gids.usable.size()); ++i)
    add(fmt::format("{}: {}", described(gids.usable[i]),
                    i == 0 ? "the best" : "after it, " + why_after(gids.usable.front(), gids.usable[i])));
  if (gids.usable.size() > kMost) add(fmt::format("{} more that are usable", gids.usable.size() - kMost));
  for (std::size_t i = 0; i < std::min(kMost, gids.left_out.size()); ++i) add(gids.left_out[i] + ": not usable");
  if (gids.left_out.size() > kMost) add(fmt::format("{} more that are not usable", gids.left_out.size() - kMost));
}

void trace_gid_choice(const std::string& device, const HcaChoice& hca, const PortGids& gids,
                      std::vector<RuleMatch>& trace) {
  if (!hca.gid_index || gids.best() == nullptr) return;
  const auto* taken = gids.at(*hca.gid_index);
  const bool best = taken == gids.best();
  trace.push_back({device, "gid-choice",
                   fmt::format("port {}: NCCL arrives at index {}{}, {}", hca.port, *hca.gid_index,
                               hca.gid ? " (" + hca.gid->address().text() + ")" : "",
                               best               ? "the best"
                               : taken == nullptr ? "which is not usable"
                                                  : "not the best: " + why_after(*gids.best(), *taken))});
}

}  // namespace topoguard
