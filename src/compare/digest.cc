// SPDX-License-Identifier: Apache-2.0
#include "compare/digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "decide/user_settings.h"
#include "decide/view.h"
#include "nccl_rules/gid_search.h"

namespace topoguard {

namespace {

// Sorted by address, without what lies inside another one: two hosts with their own /31 and one route to the whole rail
// are alike.
std::vector<Prefix> outermost(std::vector<Prefix> prefixes) {
  for (auto& prefix : prefixes) prefix = prefix.network();
  std::sort(prefixes.begin(), prefixes.end(), [](const Prefix& a, const Prefix& b) {
    if (a.length != b.length) return a.length < b.length;
    return a.address < b.address;
  });
  std::vector<Prefix> kept;
  std::set<Prefix> known_outer;
  for (const auto& prefix : prefixes) {
    bool inside = false;
    for (int length = prefix.length; length >= 0 && !inside; --length)
      inside = known_outer.count(Prefix{prefix.address, length}.network()) > 0;
    if (inside) continue;
    known_outer.insert(prefix);
    kept.push_back(prefix);
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

Prefix everything(Family family) {
  Prefix prefix;
  prefix.address.family = family;
  return prefix;
}

bool carries(const Route& route) {
  if (route.type && *route.type != "unicast") return false;
  return std::none_of(route.flags.begin(), route.flags.end(),
                      [](const std::string& flag) { return flag == "dead" || flag == "linkdown"; });
}

bool leaves_by(const Route& route, const Link& link) {
  if (route.dev == link.ifname) return true;
  if (route.prefsrc && std::any_of(link.addr_info.begin(), link.addr_info.end(),
                                   [&](const LinkAddress& held) { return held.local == *route.prefsrc; }))
    return true;
  return std::any_of(route.nexthops.begin(), route.nexthops.end(),
                     [&](const RouteHop& hop) { return hop.dev == link.ifname; });
}

bool contained(const std::vector<Prefix>& outer, const Prefix& prefix) {
  return std::any_of(outer.begin(), outer.end(),
                     [&](const Prefix& wide) { return wide.length <= prefix.length && wide.contains(prefix.address); });
}

// A socket goes where the longest prefix leads. RoCE looks its way up from the GID's own netdev (bound_dev_if in
// rdma_addr_find_l2_eth_by_grh, drivers/infiniband/core/addr.c): other devices' routes take nothing from it.
enum class Lookup : bool { whole_table, own_device };

std::optional<Endpoint> endpoint(const View& view, const Link* link, const IpAddress& address, Lookup lookup) {
  if (link == nullptr) return std::nullopt;
  Endpoint end;
  end.address = address;
  end.subnet = Prefix{address, address.bits()};
  for (const auto& held : link->addr_info)
    if (held.local == address) end.subnet = Prefix{address, held.prefixlen}.network();
  end.routes_known = view.routes_known(address.family);
  std::vector<Prefix> reach{end.subnet}, others;
  for (const auto& route : known(view.host().routes)) {
    if (route.family != address.family || !carries(route)) continue;
    const auto dst = route.dst.value_or(everything(route.family));
    (leaves_by(route, *link) ? reach : others).push_back(dst);
  }
  end.reach = outermost(reach);
  if (lookup == Lookup::own_device) return end;
  std::vector<Prefix> lost;
  for (const auto& other : others) {
    if (other.length == 0 || !contained(end.reach, other) || contained({end.subnet}, other)) continue;
    const bool own_as_narrow = std::any_of(reach.begin(), reach.end(), [&](const Prefix& mine) {
      return mine.length >= other.length && other.contains(mine.address);
    });
    if (!own_as_narrow) lost.push_back(other);
  }
  constexpr std::size_t kMany = 256;  // a node's routes to its pods: one each, and no peer is among them
  if (lost.size() <= kMany) end.lost = outermost(lost);
  return end;
}

std::string joined(const std::set<std::string>& parts) {
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "" : " and ") + part;
  return text;
}

std::optional<std::string> agreed(const std::set<std::string>& parts) {
  return parts.empty() ? std::nullopt : std::optional(joined(parts));
}

const RdmaDevice* device_of(const HostSnapshot& host, const std::string& name) {
  for (const auto& device : known(host.rdma))
    if (device.name == name) return &device;
  return nullptr;
}

const RdmaPort* port_of(const HostSnapshot& host, const HcaChoice& hca) {
  const auto* device = device_of(host, hca.name);
  if (device == nullptr) return nullptr;
  for (const auto& port : device->ports)
    if (port.port == hca.port) return &port;
  return nullptr;
}

std::string gid_kind(const RdmaPort& port, const HcaChoice& hca) {
  for (const auto& entry : known(port.gids)) {
    if (!hca.gid_index || entry.index != *hca.gid_index || entry.gid.is_zero()) continue;
    const auto version = roce_version(entry);
    if (version) return fmt::format("RoCE v{} over {}", *version, entry.gid.is_ipv4_mapped() ? "IPv4" : "IPv6");
  }
  return "";
}

void add_ib(const View& view, const Decision& decision, HostDigest& digest) {
  const auto& host = view.host();
  digest.hca_count = decision.hcas.size();
  auto hcas = decision.hcas;
  if (view.release().sorts_hcas_by_pci())
    std::stable_sort(hcas.begin(), hcas.end(), [&](const HcaChoice& a, const HcaChoice& b) {
      const auto pci = [&](const HcaChoice& hca) {
        const auto* device = device_of(host, hca.name);
        return device != nullptr ? device->pci.value_or("") : std::string();
      };
      return pci(a) < pci(b);
    });
  std::set<std::string> layers, kinds, speeds, mtus, netdev_mtus;
  for (const auto& hca : hcas) {
    if (!hca.link_layer.empty()) layers.insert(hca.link_layer);
    if (hca.rate_gbps) speeds.insert(fmt::format("{:g} Gb/s", *hca.rate_gbps));
    const auto* port = port_of(host, hca);
    if (port != nullptr && port->active_mtu) mtus.insert(std::to_string(*port->active_mtu));
    if (hca.link_layer != "Ethernet") continue;
    const auto* link = hca.netdev ? view.link(*hca.netdev) : nullptr;
    if (link != nullptr && link->mtu) netdev_mtus.insert(std::to_string(*link->mtu));
    if (const auto kind = port != nullptr ? gid_kind(*port, hca) : ""; !kind.empty()) kinds.insert(kind);
    if (!hca.gid || hca.gid->is_link_local()) continue;
    if (auto end = endpoint(view, link, hca.gid->address(), Lookup::own_device)) {
      digest.rail_subnets.push_back(end->subnet.text());
      digest.rails.push_back(std::move(*end));
    }
  }
  if (digest.rails.size() != hcas.size()) digest.rail_subnets.clear();
  digest.link_layers = agreed(layers);
  digest.gid_types = agreed(kinds);
  digest.speeds = agreed(speeds);
  digest.mtus = agreed(mtus);
  digest.netdev_mtus = agreed(netdev_mtus);
}

}  // namespace

HostDigest digest(std::string name, const HostSnapshot& host, const Decision& decision) {
  const View view(host);
  HostDigest digest;
  digest.name = std::move(name);
  digest.transport = decision.transport;
  digest.nccl_version = host.nccl_version;
  for (const auto& [variable, value] : read_user_settings(view).nccl) digest.env.emplace(variable, value);
  if (const auto aware = digest.env.find("NCCL_IB_SUBNET_AWARE_ROUTING"); aware != digest.env.end())
    digest.subnet_aware = aware->second == "1";

  std::set<std::string> speeds, mtus;
  for (const auto& ifname : decision.socket.ifnames) {
    const auto* link = view.link(ifname);
    if (link == nullptr) continue;
    if (link->mtu) mtus.insert(std::to_string(*link->mtu));
    if (const auto mbps = view.speed_mbps(*link))
      speeds.insert(fmt::format("{:g} Gb/s", static_cast<double>(*mbps) / 1000));
    const auto address = decision.socket.addresses.find(ifname);
    if (address == decision.socket.addresses.end() || address->second.is_link_local()) continue;
    if (auto end = endpoint(view, link, address->second, Lookup::whole_table))
      digest.interfaces.push_back(std::move(*end));
  }
  if (decision.transport == Transport::ib) {
    add_ib(view, decision, digest);
  } else {
    digest.speeds = agreed(speeds);
    digest.mtus = agreed(mtus);
  }
  return digest;
}

}  // namespace topoguard
