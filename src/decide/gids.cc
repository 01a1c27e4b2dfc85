// SPDX-License-Identifier: Apache-2.0
#include "decide/gids.h"

#include <algorithm>
#include <array>

#include "nccl_rules/gid_search.h"

namespace topoguard {

namespace {

const LinkAddress* address_on(const Link& link, const IpAddress& address) {
  for (const auto& held : link.addr_info)
    if (held.local == address) return &held;
  return nullptr;
}

bool has_family(const Link& link, Family family) {
  return std::any_of(link.addr_info.begin(), link.addr_info.end(),
                     [&](const LinkAddress& held) { return held.family() == family; });
}

struct Place {
  bool usable = false;
  const Link* netdev = nullptr;
  std::string problem;
};

Place place_of(const View& view, const RdmaPort& port, const GidEntry& entry) {
  const auto name = "index " + std::to_string(entry.index);
  const auto address = entry.gid.address();
  if (!view.host().links) return {true, nullptr, ""};
  const Link* link = nullptr;
  if (entry.ndev && !entry.ndev->empty()) {
    link = view.link(*entry.ndev);
    if (link == nullptr) return {false, nullptr, name + " belongs to " + *entry.ndev + ", not in this namespace"};
    // Older kernels print another namespace's device by a name that may exist here too: the address tells them apart.
    if (!entry.gid.is_link_local() && has_family(*link, address.family) && address_on(*link, address) == nullptr)
      return {false, nullptr, name + " has " + address.text() + ", which " + link->ifname + " does not have here"};
  } else {
    link = view.holder(address);
    const bool readable = entry.type.has_value();
    if (link == nullptr && readable && port.netdev) link = view.link(*port.netdev);
    if (link == nullptr && !readable) return {false, nullptr, name + " belongs to another network namespace"};
    if (link == nullptr) return {true, nullptr, ""};
  }
  if (!view.running(*link)) return {false, link, name + " belongs to " + link->ifname + ", which is down"};
  if (!view.physical_backed(*link)) return {false, link, name + " belongs to " + link->ifname + ", which is virtual"};
  return {true, link, ""};
}

int subnet_position(const Policy& policy, const IpAddress& address) {
  const auto found = std::find_if(policy.subnets.begin(), policy.subnets.end(),
                                  [&](const Prefix& subnet) { return subnet.contains(address); });
  return static_cast<int>(found - policy.subnets.begin());
}

bool ipv6_cluster(const View& view) {
  const auto& peers = view.peers();
  return !peers.empty() &&
         std::all_of(peers.begin(), peers.end(), [](const IpAddress& peer) { return peer.family == Family::inet6; });
}

// They have a MAC address or a stack of their own beside the device's; Soft-RoCE drops what arrives there.
bool beside_the_device(const View& view, const Link& link) {
  static constexpr std::array<std::string_view, 4> kinds{"macvlan", "macvtap", "ipvlan", "ipvtap"};
  return std::find(kinds.begin(), kinds.end(), view.kind(link)) != kinds.end();
}

bool near_peers(const View& view, const UsableGid& gid) {
  const auto address = gid.entry->gid.address();
  const auto* held = gid.netdev != nullptr ? address_on(*gid.netdev, address) : nullptr;
  if (held == nullptr) return false;
  const Prefix subnet{address, held->prefixlen};
  return std::any_of(view.peers().begin(), view.peers().end(),
                     [&](const IpAddress& peer) { return subnet.contains(peer); });
}

}  // namespace

const UsableGid* PortGids::at(int index) const {
  for (const auto& gid : usable)
    if (gid.entry->index == index) return &gid;
  return nullptr;
}

PortGids usable_gids(const View& view, const Policy& policy, const RdmaPort& port) {
  PortGids found;
  const bool prefer_ipv6 = ipv6_cluster(view);
  bool some_near = false;
  for (const auto& entry : known(port.gids)) {
    if (entry.gid.is_zero() || entry.index < 0) continue;
    const auto place = place_of(view, port, entry);
    if (!place.usable) {
      found.left_out.push_back(place.problem);
      if (found.problem.empty() || !entry.gid.is_link_local()) found.problem = place.problem;
      continue;
    }
    UsableGid gid{&entry, place.netdev, {}};
    const auto address = entry.gid.address();
    const auto version = roce_version(entry);
    gid.rank.link_local = entry.gid.is_link_local();
    gid.rank.policy_subnet = subnet_position(policy, address);
    gid.rank.version = !version ? 2 : 2 - *version;
    gid.rank.other_family = (address.family == Family::inet6) != prefer_ipv6;
    gid.rank.beside = place.netdev != nullptr && beside_the_device(view, *place.netdev);
    if (place.netdev != nullptr)
      if (const auto* held = address_on(*place.netdev, address)) gid.rank.deprecated = held->deprecated.value_or(false);
    gid.rank.outside_peers = !near_peers(view, gid);
    some_near = some_near || !gid.rank.outside_peers;
    gid.rank.index = entry.index;
    found.usable.push_back(gid);
  }
  for (auto& gid : found.usable) {
    if (!some_near) gid.rank.outside_peers = false;
    if (gid.netdev == nullptr || view.kind(*gid.netdev).empty()) continue;
    for (const auto& twin : found.usable)
      if (twin.entry->gid == gid.entry->gid && twin.netdev != nullptr && view.kind(*twin.netdev).empty())
        gid.rank.shadow = true;
  }
  std::sort(found.usable.begin(), found.usable.end(),
            [](const UsableGid& a, const UsableGid& b) { return a.rank.weight() < b.rank.weight(); });
  if (!found.usable.empty())
    found.problem.clear();
  else if (found.problem.empty())
    found.problem = port.gids ? "the GID table reads as empty here" : "the GID table cannot be read";
  return found;
}

std::optional<std::string> stale_pin(const RdmaPort& port, const PortGids& gids, int index) {
  const auto* best = gids.best();
  const auto* pinned = gids.at(index);
  if (pinned == nullptr) {
    for (const auto& entry : known(port.gids))
      if (entry.index == index && !entry.gid.is_zero()) return "entry " + std::to_string(index) + " is not usable here";
    return "entry " + std::to_string(index) + " is empty";
  }
  const bool local_beside_better = pinned->rank.link_local && !best->rank.link_local;
  const bool v1_beside_v2 = pinned->rank.version == 1 && best->rank.version == 0;
  if (!local_beside_better && !v1_beside_v2) return std::nullopt;
  return "entry " + std::to_string(index) + " is " +
         (local_beside_better ? "link-local (" + pinned->entry->gid.text() + ")" : std::string("RoCE v1"));
}

std::optional<Prefix> subnet_of(const View& view, const IpAddress& address) {
  const auto* link = view.holder(address);
  const auto* held = link != nullptr ? address_on(*link, address) : nullptr;
  if (held == nullptr) return std::nullopt;
  return Prefix{address, held->prefixlen}.network();
}

}  // namespace topoguard
