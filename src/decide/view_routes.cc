// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "decide/view.h"

namespace topoguard {
namespace {

bool is_default(const Route& route) { return !route.dst || route.dst->length == 0; }

/// blackhole, unreachable, prohibit, throw: the kernel finds the route and drops the packet.
bool drops(const Route& route) { return route.type && *route.type != "unicast"; }

bool has(const std::vector<std::string>& flags, std::string_view flag) {
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

void insert_once(std::vector<const Link*>& list, const Link* link) {
  if (link && std::find(list.begin(), list.end(), link) == list.end()) list.push_back(link);
}

}  // namespace

void View::index_routes() {
  if (host_.routes) {
    known4_ = true;
    for (const auto& route : *host_.routes) {
      // A VRF's own table counts for the devices in it; other tables need rules that are not recorded.
      const auto* device = route.dev ? link(*route.dev) : nullptr;
      const auto* above = device ? master(*device) : nullptr;
      const bool in_vrf = above && kind(*above) == "vrf";
      const bool main_table = !route.table || *route.table == "main" || *route.table == "254";
      const bool local = route.type && (*route.type == "local" || *route.type == "broadcast" ||
                                        *route.type == "multicast" || *route.type == "anycast");
      if ((!main_table && !in_vrf) || local || has(route.flags, "dead")) continue;
      routes_.push_back(&route);
      if (route.family == Family::inet6) known6_ = true;
    }
  }
  // The keys are worked out once: thousands of routes are compared many times.
  struct Keyed {
    std::tuple<Family, int, std::uint32_t, Prefix, std::string_view, std::optional<IpAddress>, std::optional<IpAddress>>
        key;
    const Route* route;
  };
  std::vector<Keyed> keyed;
  keyed.reserve(routes_.size());
  for (const auto* route : routes_)
    keyed.push_back({{route->family, route->dst ? -route->dst->length : 0, route->metric.value_or(0),
                      route->dst ? route->dst->network() : Prefix{},
                      route->dev ? std::string_view(*route->dev) : std::string_view(), route->gateway, route->prefsrc},
                     route});
  std::stable_sort(keyed.begin(), keyed.end(), [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
  std::transform(keyed.begin(), keyed.end(), routes_.begin(), [](const Keyed& k) { return k.route; });
  for (const auto* route : routes_) {
    if (drops(*route)) continue;
    std::vector<const Link*> owners;
    if (route->dev) insert_once(owners, link(*route->dev));
    for (const auto& hop : route->nexthops)
      if (hop.dev) insert_once(owners, link(*hop.dev));
    if (route->prefsrc) insert_once(owners, holder(*route->prefsrc));
    for (const auto* owner : owners) {
      auto& own = entry(*owner);
      own.routes.push_back(route);
      if (!is_default(*route)) continue;
      auto& lowest = route->family == Family::inet ? own.default4 : own.default6;
      const auto metric = route->metric.value_or(0);
      if (!lowest || metric < *lowest) lowest = metric;
    }
  }
}

void View::index_uplinks() {
  bool any = false, others = false;
  for (const auto& entry : entries_) {
    if (!entry.default4 && !entry.default6) continue;
    any = true;
    others = others || !paired_kind(entry.kind);
  }
  default_by_pairs_only_ = any && !others;
}

std::optional<Way> View::way_to(const IpAddress& to) const {
  const auto known = peer_ways_.find(to);
  return known == peer_ways_.end() ? find_way(to) : known->second;
}

std::optional<Way> View::find_way(const IpAddress& to) const {
  if (const auto* own = holder(to)) return Way{{own}, to, false, true};
  if (!routes_known(to.family)) return connected_way(to);
  const Route* best = nullptr;
  Way way;
  for (const auto* route : routes_) {
    if (route->family != to.family) continue;
    if (best) {
      const auto length = [](const Route* r) { return r->dst ? r->dst->length : 0; };
      if (length(route) != length(best) || route->metric.value_or(0) != best->metric.value_or(0)) break;
    }
    if (route->dst && !(route->dst->length == 0 || route->dst->contains(to))) continue;
    if (!best) {
      best = route;
      way.by_default_route = is_default(*route);
    }
    if (drops(*route)) continue;
    if (route->dev) insert_once(way.devices, link(*route->dev));
    for (const auto& hop : route->nexthops)
      if (hop.dev) insert_once(way.devices, link(*hop.dev));
    if (!way.source) way.source = route->prefsrc;
  }
  return way;
}

std::optional<Way> View::connected_way(const IpAddress& to) const {
  Way way;
  int longest = -1;
  for (const auto* link : links_) {
    if (!running(*link)) continue;
    for (const auto& address : link->addr_info) {
      if (address.family() != to.family || address.prefixlen < longest) continue;
      if (!Prefix{address.local, address.prefixlen}.contains(to)) continue;
      if (address.prefixlen > longest) way.devices.clear();
      longest = address.prefixlen;
      insert_once(way.devices, link);
    }
  }
  if (longest < 0) return std::nullopt;
  return way;
}

std::optional<bool> View::reaches(const Link& link, const IpAddress& to) const {
  const auto way = way_to(to);
  if (!way) return std::nullopt;
  if (std::find(way->devices.begin(), way->devices.end(), &link) != way->devices.end()) return true;
  return way->source && holder(*way->source) == &link && !way->devices.empty();
}

bool View::default_route(const Link& link, std::optional<Family> family) const {
  const auto& own = entry(link);
  if (family) return *family == Family::inet ? own.default4.has_value() : own.default6.has_value();
  return own.default4 || own.default6;
}

std::optional<std::uint32_t> View::default_metric(const Link& link) const {
  const auto& own = entry(link);
  if (own.default4 && own.default6) return std::min(*own.default4, *own.default6);
  return own.default4 ? own.default4 : own.default6;
}

}  // namespace topoguard
