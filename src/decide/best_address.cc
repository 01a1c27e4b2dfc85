// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>

#include "decide/interfaces.h"

namespace topoguard {
namespace {

bool in_peers_subnet(const View& view, const LinkAddress& address) {
  const Prefix subnet{address.local, address.prefixlen};
  return std::any_of(view.peers().begin(), view.peers().end(),
                     [&](const IpAddress& peer) { return subnet.contains(peer); });
}

/// A peer of the address's family is reached by this interface.
bool family_reaches_peer(const View& view, const Link& link, Family family) {
  return std::any_of(view.peers().begin(), view.peers().end(), [&](const IpAddress& peer) {
    return peer.family == family && view.reaches(link, peer).value_or(false);
  });
}

/// 0: the source of its way to a peer; 1: of a default route; 2: of another route of it; 3: of none.
int source_rank(const View& view, const Link& link, const LinkAddress& address) {
  for (const auto& peer : view.peers()) {
    const auto way = view.way_to(peer);
    if (way && way->source == address.local) return 0;
  }
  int rank = 3;
  for (const auto* route : view.routes_of(link)) {
    if (route->prefsrc != address.local) continue;
    rank = std::min(rank, !route->dst || route->dst->length == 0 ? 1 : 2);
  }
  return rank;
}

}  // namespace

const LinkAddress* best_address(const View& view, const Policy& policy, const UserSettings& user, const Link& link) {
  const LinkAddress* best = nullptr;
  using Order = std::tuple<bool, bool, std::size_t, bool, bool, Family, int, bool>;
  Order best_order;
  for (const auto& address : link.addr_info) {
    if (user.family && address.family() != *user.family) continue;
    const bool usable = usable_address(address);
    // NCCL takes 127.0.0.1 where nothing else is there, and never ::1.
    const bool own_loop = view.loopback(link) && address.local.is_loopback() && address.family() == Family::inet;
    if (!usable && !link_local_address(address) && !own_loop) continue;
    const auto& subnets = policy.subnets;
    const auto rank = static_cast<std::size_t>(
        std::find_if(subnets.begin(), subnets.end(), [&](const Prefix& s) { return s.contains(address.local); }) -
        subnets.begin());
    const Order order{!usable,
                      address.deprecated.value_or(false),
                      rank,
                      !in_peers_subnet(view, address),
                      !family_reaches_peer(view, link, address.family()),
                      address.family(),
                      source_rank(view, link, address),
                      address.prefixlen == address.local.bits()};
    if (!best || order < best_order) {
      best = &address;
      best_order = order;
    }
  }
  return best;
}

}  // namespace topoguard
