// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "document/read_parts.h"

namespace topoguard::json {
namespace {

constexpr std::int64_t kIntMax = std::numeric_limits<int>::max();

// Scalars as text; what is nested says nothing that a rule asks for.
std::map<std::string, std::string> scalars(const Node& object) {
  std::map<std::string, std::string> out;
  for (const Node& field : object.fields()) {
    const Json& value = field.value();
    if (value.is_string())
      out[field.key()] = value.get<std::string>();
    else if (value.is_boolean() || value.is_number())
      out[field.key()] = value.dump();
  }
  return out;
}

LinkAddress read_link_address(const Node& node) {
  LinkAddress out;
  const Node family = node.required("family", "\"inet\" or \"inet6\"");
  const std::string name = family.text();
  if (name != "inet" && name != "inet6") family.fail("\"inet\" or \"inet6\"");
  const Node local = node.required("local", "a numeric address");
  out.local = local.address();
  if (family_name(out.local.family) != name) local.fail("an address of family " + name);
  const int bits = out.local.bits();
  out.prefixlen = static_cast<int>(node.required("prefixlen", "a prefix length")
                                       .integer(0, bits, "a prefix length from 0 to " + std::to_string(bits)));
  out.scope = get(node, "scope", &Node::text).value_or("");
  out.deprecated = get(node, "deprecated", &Node::boolean);
  out.tentative = get(node, "tentative", &Node::boolean);
  out.label = get(node, "label", &Node::text).value_or("");
  return out;
}

void read_linkinfo(const Node& info, Link& link) {
  link.kind = get(info, "info_kind", &Node::text);
  link.slave_kind = get(info, "info_slave_kind", &Node::text);
  if (const auto data = info.member("info_data")) link.info_data = scalars(*data);
  if (const auto data = info.member("info_slave_data")) link.info_slave_data = scalars(*data);
}

// family: what the hop tells about the route's own, where nothing told it before.
RouteHop read_hop(const Node& node, std::optional<Family>& family) {
  RouteHop hop;
  hop.dev = get(node, "dev", &Node::name);
  if (const auto via = node.member("via")) {
    // only an IPv4 route has a gateway of the other family (RTA_VIA)
    hop.gateway = via->required("host", "a numeric address").address();
    family = Family::inet;
  } else if ((hop.gateway = get(node, "gateway", &Node::address)) && !family) {
    family = hop.gateway->family;
  }
  return hop;
}

}  // namespace

Link read_link(const Node& node) {
  Link link;
  link.ifindex =
      static_cast<int>(node.required("ifindex", "the link's number").integer(1, kIntMax, "a link number above 0"));
  link.ifname = node.required("ifname", "the link's name").name();
  if (const auto flags = node.member("flags")) link.flags = flags->texts();
  link.mtu = get(node, "mtu", &Node::count);
  link.operstate = get(node, "operstate", &Node::text);
  link.link_type = get(node, "link_type", &Node::text);
  link.address = get(node, "address", &Node::text);
  link.master = get(node, "master", &Node::name);
  link.lower = get(node, "link", &Node::name);
  link.link_index = get(node, "link_index", &Node::count);
  link.link_netnsid = get(node, "link_netnsid", &Node::count);
  if (const auto info = node.member("linkinfo")) read_linkinfo(*info, link);
  link.parentbus = get(node, "parentbus", &Node::name);
  link.parentdev = get(node, "parentdev", &Node::name);
  if (const auto list = node.member("addr_info")) {
    for (const Node& item : list->items())
      if (!(item.value().is_object() && item.value().empty())) link.addr_info.push_back(read_link_address(item));
    // iproute2 writes it on every IPv4 address
    for (auto& address : link.addr_info)
      if (address.label == link.ifname) address.label.clear();
  }
  if (const auto speed = node.member("speed_mbps")) {
    // sysfs and ethtool print -1 for a link without a speed
    const auto mbps = speed->integer(-1, std::int64_t{1} << 40, "a speed in Mb/s");
    if (mbps >= 0) link.speed_mbps = mbps;
  }
  link.driver = get(node, "driver", &Node::name);
  link.numa_node = read_numa_node(node);
  link.physfn = get(node, "physfn", &Node::name);
  return link;
}

Route read_route(const Node& node) {
  Route route;
  std::optional<Family> family, family_of_dst;
  const Node dst = node.required("dst", "\"default\" or a prefix");
  if (dst.text() != "default") {
    const auto prefix = Prefix::parse(dst.text());
    if (!prefix) dst.fail("\"default\" or a prefix such as \"10.0.0.0/24\"");
    family_of_dst = prefix->address.family;
    if (prefix->length != 0) route.dst = prefix;
  }
  RouteHop hop = read_hop(node, family);
  route.dev = std::move(hop.dev);
  route.gateway = hop.gateway;
  if (const auto metric = node.member("metric"))
    route.metric =
        static_cast<std::uint32_t>(metric->integer(0, std::numeric_limits<std::uint32_t>::max(), "a route metric"));
  route.prefsrc = get(node, "prefsrc", &Node::address);
  if (const auto hops = node.member("nexthops"))
    for (const Node& item : hops->items()) route.nexthops.push_back(read_hop(item, family));
  if (family_of_dst)
    route.family = *family_of_dst;
  else if (family)
    route.family = *family;
  else if (route.prefsrc)
    route.family = route.prefsrc->family;
  if (const auto flags = node.member("flags")) route.flags = flags->texts();
  route.type = get(node, "type", &Node::text);
  if (const auto table = node.member("table"))
    route.table = table->value().is_number_integer() ? table->value().dump() : table->text();
  route.scope = get(node, "scope", &Node::text);
  return route;
}

std::vector<Link> read_links(const Node& list) {
  std::vector<Link> out;
  for (const Node& item : list.items()) {
    item.expect_object();
    if (!item.value().empty()) out.push_back(read_link(item));
  }
  return out;
}

std::vector<Route> read_routes(const Node& list) {
  std::vector<Route> out;
  for (const Node& item : list.items()) {
    item.expect_object();
    if (!item.value().empty()) out.push_back(read_route(item));
  }
  return out;
}

}  // namespace topoguard::json
