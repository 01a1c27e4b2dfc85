// SPDX-License-Identifier: Apache-2.0
#include "decide/view.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "nccl_rules/interfaces.h"

namespace topoguard {
namespace {

/// The kernel nests net devices at most 8 deep (MAX_NEST_DEV); a broken document must not make us go deeper.
constexpr int kMaxDepth = 16;

/// Drivers of virtual devices, for links whose kind was not recorded (ETHTOOL_GDRVINFO names).
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kDriverKinds{{
    {"bridge", "bridge"},
    {"veth", "veth"},
    {"bonding", "bond"},
    {"team", "team"},
    {"802.1Q VLAN Support", "vlan"},
    {"macvlan", "macvlan"},
    {"ipvlan", "ipvlan"},
    {"tun", "tun"},
    {"vxlan", "vxlan"},
    {"geneve", "geneve"},
    {"dummy", "dummy"},
    {"openvswitch", "openvswitch"},
    {"wireguard", "wireguard"},
    {"vrf", "vrf"},
}};

template <std::size_t N>
bool one_of(std::string_view kind, const std::array<std::string_view, N>& kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

/// They stand on one other device and carry its traffic unchanged.
constexpr std::array<std::string_view, 8> kStacked{"vlan",   "macvlan", "macvtap", "ipvlan",
                                                   "ipvtap", "macsec",  "ipoib",   "hsr"};

}  // namespace

bool paired_kind(std::string_view kind) { return kind == "veth" || kind == "netkit"; }

bool usable_address(const LinkAddress& address) {
  const auto& local = address.local;
  if (address.tentative.value_or(false) || address.scope == "link" || address.scope == "host") return false;
  if (local.is_link_local() || local.is_loopback() || local.is_unspecified()) return false;
  const bool multicast = local.family == Family::inet ? (local.bytes[0] & 0xf0) == 0xe0 : local.bytes[0] == 0xff;
  return !multicast;
}

bool link_local_address(const LinkAddress& address) {
  if (address.tentative.value_or(false) || address.local.is_loopback()) return false;
  return address.local.is_link_local() || address.scope == "link";
}

View::View(const HostSnapshot& host) : host_(host) {
  release_ = kNewestNccl;
  if (host.nccl_version)
    if (const auto release = NcclRelease::parse(*host.nccl_version)) release_ = *release;
  for (const auto& device : known(host.pci)) pci_.emplace(device.id, &device);
  index_links();
  index_routes();
  index_uplinks();
  index_peers();
  // Way out needs addresses and routes, and what stands on a way out needs it first.
  for (auto& entry : entries_) entry.physical = find_physical(*entry.link, 0);
}

void View::index_links() {
  const auto& links = known(host_.links);
  links_.reserve(links.size());
  for (const auto& link : links) links_.push_back(&link);
  std::sort(links_.begin(), links_.end(), [](const Link* a, const Link* b) {
    return std::tie(a->ifindex, a->ifname) < std::tie(b->ifindex, b->ifname);
  });
  bool buses_recorded = false;
  std::unordered_set<std::string_view> masters;
  for (const auto* link : links_) {
    if (link->master) masters.insert(*link->master);
    by_name_.emplace(link->ifname, link);
    by_index_.emplace(link->ifindex, link);
    buses_recorded = buses_recorded || link->parentbus || link->parentdev;
  }
  entries_.reserve(links_.size());
  for (const auto* link : links_) {
    positions_.emplace(link, entries_.size());
    Entry entry{};
    entry.link = link;
    if (link->kind) {
      entry.kind = *link->kind;
    } else if (link->driver) {
      for (const auto& [driver, kind] : kDriverKinds)
        if (*link->driver == driver) entry.kind = kind;
    } else if (link->link_netnsid && !link->parentbus) {
      entry.kind =
          "veth";  // printed without -d: what stands on a device elsewhere is a container's, in most cases this
    }
    entry.on_bus = find_on_bus(entry, buses_recorded || masters.count(link->ifname) > 0);
    any_bus_device_ = any_bus_device_ || (entry.on_bus && link_running(*link));
    entries_.push_back(std::move(entry));
  }
  for (const auto* link : links_) {
    if (!link->master) continue;
    const auto* master = this->link(*link->master);
    if (!master || master == link) continue;
    entry(*link).master = master;
    entry(*master).slaves.push_back(link);
  }
  for (const auto* link : links_)
    for (const auto& address : link->addr_info) holders_.emplace(address.local, link);
  for (const auto* link : links_) {
    const auto* above = master(*link);
    if (link->slave_kind != "openvswitch" && !(above && kind(*above) == "openvswitch")) continue;
    if (kind(*link) == "openvswitch" || !running(*link)) continue;
    const auto below = bottoms(*link);  // the uplink may be a bond, or a VLAN of a NIC
    if (std::any_of(below.begin(), below.end(),
                    [&](const Link* bottom) { return on_bus(*bottom) && running(*bottom); }))
      live_switch_ports_.push_back(link);
  }
}

bool View::find_on_bus(const Entry& entry, bool buses_recorded) const {
  const auto& link = *entry.link;
  if (loopback(link)) return false;
  if ((link.parentbus && !link.parentbus->empty()) || (link.parentdev && !link.parentdev->empty()) || link.physfn)
    return true;
  if (buses_recorded || !entry.kind.empty() || link.lower || link.link_index) return false;
  return !link.link_type || *link.link_type == "ether" || *link.link_type == "infiniband";
}

void View::index_peers() {
  peers_ = host_.peers;
  // A number in these names rank 0's host as surely as a recorded peer. Rank 0's own host has no peer by it, and must
  // come to what all others do.
  bool root_known = false;
  const auto root = [&](const std::optional<IpAddress>& address) {
    if (!address || address->is_loopback()) return;
    root_known = true;
    peers_.push_back(*address);
    if (!announced_) announced_ = holder(*address);
  };
  if (const auto at = host_.env.find("MASTER_ADDR"); at != host_.env.end()) root(IpAddress::parse(at->second));
  if (const auto at = host_.env.find("NCCL_COMM_ID"); at != host_.env.end())
    if (const auto id = parse_comm_id(at->second)) root(id->address);
  std::sort(peers_.begin(), peers_.end());
  peers_.erase(std::unique(peers_.begin(), peers_.end()), peers_.end());
  // A name was resolved into the list by the collector. Several own addresses there are just a list of all hosts.
  const auto own = [&](const IpAddress& peer) { return !peer.is_loopback() && holder(peer) != nullptr; };
  if (!root_known && std::count_if(peers_.begin(), peers_.end(), own) == 1)
    announced_ = holder(*std::find_if(peers_.begin(), peers_.end(), own));
  peers_.erase(std::remove_if(peers_.begin(), peers_.end(),
                              [&](const IpAddress& peer) {
                                return peer.is_loopback() || peer.is_unspecified() || holder(peer) != nullptr;
                              }),
               peers_.end());
  for (const auto& peer : peers_) peer_ways_.emplace(peer, find_way(peer));
}

const Link* View::link(std::string_view ifname) const {
  const auto at = by_name_.find(ifname);
  return at == by_name_.end() ? nullptr : at->second;
}

const Link* View::link(int ifindex) const {
  const auto at = by_index_.find(ifindex);
  return at == by_index_.end() ? nullptr : at->second;
}

std::string_view View::kind(const Link& link) const { return entry(link).kind; }
bool View::running(const Link& link) const { return link_running(link); }

bool View::loopback(const Link& link) const { return link.has_flag("LOOPBACK") || link.link_type == "loopback"; }

const Link* View::master(const Link& link) const { return entry(link).master; }
const std::vector<const Link*>& View::slaves(const Link& link) const { return entry(link).slaves; }
const std::vector<const Route*>& View::routes_of(const Link& link) const { return entry(link).routes; }
bool View::on_bus(const Link& link) const { return entry(link).on_bus; }
bool View::physical_backed(const Link& link) const { return entry(link).physical; }

const Link* View::lower(const Link& link) const {
  if (link.link_netnsid) return nullptr;
  const Link* below = nullptr;
  if (link.lower) below = this->link(*link.lower);
  if (!below && !link.lower && link.link_index) below = this->link(*link.link_index);
  return below == &link ? nullptr : below;
}

bool View::lower_elsewhere(const Link& link) const {
  return link.link_netnsid || ((link.lower || link.link_index) && !lower(link));
}

std::vector<const Link*> View::bottoms(const Link& link) const {
  std::vector<const Link*> result;
  std::unordered_set<const Link*> seen{&link};
  std::vector<const Link*> open{&link};
  while (!open.empty()) {
    const auto* here = open.back();
    open.pop_back();
    bool stands = false;
    const auto descend = [&](const Link* below) {
      stands = true;
      if (seen.insert(below).second) open.push_back(below);
    };
    const auto own_kind = kind(*here);
    if (own_kind != "vrf")
      for (const auto* slave : slaves(*here)) descend(slave);
    if (!paired_kind(own_kind))
      if (const auto* below = lower(*here)) descend(below);
    if (!stands) result.push_back(here);
  }
  if (result.empty()) result.push_back(&link);
  std::sort(result.begin(), result.end(), [](const Link* a, const Link* b) {
    return std::tie(a->ifindex, a->ifname) < std::tie(b->ifindex, b->ifname);
  });
  return result;
}

bool View::way_out(const Link& link) const {
  const auto own_kind = kind(link);
  const bool candidate = paired_kind(own_kind) || own_kind == "macvlan" || own_kind == "ipvlan";
  const bool uplink = paired_kind(own_kind) && default_by_pairs_only_ && default_route(link);
  if (!candidate || (any_bus_device_ && !uplink)) return false;
  const auto* above = master(link);
  if ((link.master && !above) || (above && kind(*above) != "vrf")) return false;
  if (paired_kind(own_kind) && lower(link)) return false;  // both ends are here
  for (const auto& address : link.addr_info) {
    if (!usable_address(address)) continue;
    if (!routes_known(address.family())) return true;
    for (const auto* route : routes_of(link)) {
      if (route->family != address.family()) continue;
      // A lone host route is how a node reaches one of its own containers.
      const bool one_host = route->dst && route->dst->length == address.local.bits();
      if (!one_host || route->gateway) return true;
    }
  }
  return false;
}

bool View::port_of_live_switch(const Link& link) const { return !live_switch_ports_.empty() && default_route(link); }

bool View::find_physical(const Link& link, int depth) const {
  if (depth > kMaxDepth || loopback(link)) return false;
  const auto& own = entry(link);
  if (own.on_bus) return true;
  if (paired_kind(own.kind)) return way_out(link);
  if (own.kind == "openvswitch") return port_of_live_switch(link);
  if (one_of(own.kind, kStacked)) {
    const auto* below = lower(link);
    return below ? find_physical(*below, depth + 1) : true;
  }
  if (own.kind == "vrf") return false;
  if (const auto* below = own.kind.empty() ? lower(link) : nullptr) return find_physical(*below, depth + 1);
  // Bonds, teams, bridges, and masters whose kind is not known here. A bridge leads outside only by a port that runs.
  return std::any_of(own.slaves.begin(), own.slaves.end(), [&](const Link* slave) {
    return (own.kind != "bridge" || running(*slave)) && find_physical(*slave, depth + 1);
  });
}

std::optional<std::int64_t> View::speed_mbps(const Link& link) const {
  constexpr std::int64_t kUnknownSpeed = 4294967295;  // SPEED_UNKNOWN as some drivers print it
  const auto own_kind = kind(link);
  const bool invented = paired_kind(own_kind) || own_kind == "bridge" || own_kind == "tun";
  if (!invented && link.speed_mbps && *link.speed_mbps > 0 && *link.speed_mbps < kUnknownSpeed) return link.speed_mbps;
  if (own_kind == "openvswitch") {
    std::optional<std::int64_t> fastest;
    for (const auto* port : live_switch_ports_)
      if (const auto speed = speed_mbps(*port)) fastest = std::max(fastest.value_or(0), *speed);
    return fastest;
  }
  if (entry(link).on_bus || paired_kind(own_kind) || (slaves(link).empty() && !lower(link))) return std::nullopt;
  std::int64_t sum = 0, largest = 0;
  for (const auto* bottom : bottoms(link)) {
    if (bottom == &link || !entry(*bottom).on_bus || !running(*bottom) || !bottom->speed_mbps) continue;
    const auto speed = *bottom->speed_mbps;
    if (speed <= 0 || speed >= kUnknownSpeed) continue;
    sum += speed;
    largest = std::max(largest, speed);
  }
  if (sum == 0) return std::nullopt;
  const auto mode = link.info_data.find("mode");
  const bool one_at_a_time = mode != link.info_data.end() && mode->second == "active-backup";
  return (own_kind == "bond" || own_kind == "team") && !one_at_a_time ? sum : largest;
}

const Link* View::holder(const IpAddress& address) const {
  const auto at = holders_.find(address);
  return at == holders_.end() ? nullptr : at->second;
}

const PciDevice* View::pci(std::string_view id) const {
  const auto at = pci_.find(id);
  return at == pci_.end() ? nullptr : at->second;
}

}  // namespace topoguard
