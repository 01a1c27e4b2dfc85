// SPDX-License-Identifier: Apache-2.0
// The GIDs of one RoCE port that can carry data from this network namespace, best first. A rule of architecture.md
// section 4 ("GIDs") each; kernel facts: infiniband/core/cache.c and sysfs.c (gid_attrs/types, gid_attrs/ndevs).
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "decide/view.h"
#include "topoguard/policy.h"

namespace topoguard {

/// Smaller is better; fields in the order of their weight.
struct GidRank {
  bool link_local = false;     ///< fe80::/10 or 169.254/16
  int policy_subnet = 0;       ///< position in TOPOGUARD_SUBNETS; their count where in none
  int version = 0;             ///< 0 RoCE v2, 1 RoCE v1, 2 unreadable
  bool other_family = false;   ///< not the cluster's family: IPv4 unless every known peer has IPv6 only
  bool outside_peers = false;  ///< peers are known, some GID of the port shares a subnet with one, this one does not
  bool beside = false;         ///< on a macvlan or the like, which is somebody else's end of the device
  bool deprecated = false;     ///< an IPv6 address past its preferred lifetime
  bool shadow = false;         ///< another entry has the same address on a device that is not virtual
  int index = 0;

  auto weight() const {
    return std::tie(link_local, policy_subnet, version, other_family, outside_peers, beside, deprecated, shadow, index);
  }
  /// As good for a connection: neither link-local nor an older RoCE version than the other.
  bool as_good_as(const GidRank& other) const { return link_local <= other.link_local && version <= other.version; }
};

struct UsableGid {
  const GidEntry* entry = nullptr;
  const Link* netdev = nullptr;  ///< nullptr: it cannot be told, and nothing speaks against the entry
  GidRank rank;
};

struct PortGids {
  std::vector<UsableGid> usable;  ///< best first
  std::string problem;            ///< where none is: what is wrong with the table, for people
  std::vector<std::string>
      left_out;  ///< every other entry and why, for people: "index 2 belongs to br0, which is virtual"

  const UsableGid* best() const { return usable.empty() ? nullptr : &usable.front(); }
  const UsableGid* at(int index) const;
};

PortGids usable_gids(const View& view, const Policy& policy, const RdmaPort& port);

/// Why a pinned index is not usable or not the right one on this port; empty where the pin is good.
std::optional<std::string> stale_pin(const RdmaPort& port, const PortGids& gids, int index);

/// The prefix of the address on its interface; nullopt where no interface here has it.
std::optional<Prefix> subnet_of(const View& view, const IpAddress& address);

}  // namespace topoguard
