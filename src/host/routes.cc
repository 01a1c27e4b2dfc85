// SPDX-License-Identifier: Apache-2.0
#include "host/routes.h"

#include <linux/rtnetlink.h>
#include <netlink/msg.h>

#include <cstring>
#include <set>

#include "host/links.h"
#include "host/netlink.h"
#include "host/notes.h"

namespace topoguard::host {
namespace {

using Names = std::map<int, std::string>;

std::optional<IpAddress> address(const nlattr* at, int family) {
  const int length = family == AF_INET ? 4 : 16;
  if (!at || nla_len(at) != length) return std::nullopt;
  IpAddress result;
  result.family = family == AF_INET ? Family::inet : Family::inet6;
  std::memcpy(result.bytes.data(), nla_data(at), static_cast<std::size_t>(length));
  return result;
}

// RTA_VIA: a gateway of the other family (RFC 5549, BGP unnumbered).
std::optional<IpAddress> via(const nlattr* at) {
  if (!at || nla_len(at) < static_cast<int>(sizeof(rtvia))) return std::nullopt;
  const auto* value = static_cast<const rtvia*>(nla_data(at));
  const int length = nla_len(at) - static_cast<int>(sizeof(rtvia));
  if ((value->rtvia_family == AF_INET && length == 4) || (value->rtvia_family == AF_INET6 && length == 16)) {
    IpAddress result;
    result.family = value->rtvia_family == AF_INET ? Family::inet : Family::inet6;
    std::memcpy(result.bytes.data(), value->rtvia_addr, static_cast<std::size_t>(length));
    return result;
  }
  return std::nullopt;
}

std::string device(const Names& names, int ifindex) {
  const auto found = names.find(ifindex);
  return found == names.end() ? "if" + std::to_string(ifindex) : found->second;
}

std::vector<std::string> route_flags(unsigned flags) {
  constexpr struct {
    unsigned bit;
    const char* name;
  } known[] = {{RTNH_F_OFFLOAD, "offload"},     {RTNH_F_DEAD, "dead"},         {RTNH_F_ONLINK, "onlink"},
               {RTNH_F_PERVASIVE, "pervasive"}, {RTNH_F_LINKDOWN, "linkdown"}, {RTNH_F_UNRESOLVED, "unresolved"}};
  std::vector<std::string> names;
  for (const auto& flag : known)
    if (flags & flag.bit) names.emplace_back(flag.name);
  return names;
}

std::optional<std::string> type_name(unsigned type) {
  constexpr const char* names[] = {"none",        "",         "local", "broadcast", "anycast", "multicast", "blackhole",
                                   "unreachable", "prohibit", "throw", "nat",       "xresolve"};
  if (type == RTN_UNICAST) return std::nullopt;
  return type < std::size(names) ? names[type] : std::to_string(type);
}

void parse_hops(const nlattr* multipath, int family, const Names& names, Route& route) {
  const auto* hop = static_cast<const rtnexthop*>(nla_data(multipath));
  int left = nla_len(multipath);
  while (left >= static_cast<int>(sizeof *hop) && hop->rtnh_len >= sizeof *hop && hop->rtnh_len <= left) {
    RouteHop out;
    out.dev = device(names, hop->rtnh_ifindex);
    int inner = hop->rtnh_len - static_cast<int>(sizeof *hop);
    auto* at = reinterpret_cast<nlattr*>(reinterpret_cast<char*>(const_cast<rtnexthop*>(hop)) + sizeof *hop);
    for (; nla_ok(at, inner); at = nla_next(at, &inner)) {
      if (nla_type(at) == RTA_GATEWAY) out.gateway = address(at, family);
      if (nla_type(at) == RTA_VIA) out.gateway = via(at);
    }
    route.nexthops.push_back(std::move(out));
    left -= RTNH_ALIGN(hop->rtnh_len);
    hop = reinterpret_cast<const rtnexthop*>(reinterpret_cast<const char*>(hop) + RTNH_ALIGN(hop->rtnh_len));
  }
}

struct Table {
  int family = AF_INET;
  std::uint32_t number = RT_TABLE_MAIN;
  std::uint8_t protocol = 0;  // 0 = any
};

// What one dump has seen. `bare` counts routes whose nexthop the kernel names by number only
// (net.ipv4.nexthop_compat_mode=0).
struct Seen {
  std::vector<Route> routes;
  std::size_t bare = 0;
  bool full = false;
};

bool parse_route(nlmsghdr* header, const Table& table, const Names& names, Seen& seen) {
  if (header->nlmsg_type != RTM_NEWROUTE || !nlmsg_valid_hdr(header, sizeof(rtmsg))) return true;
  const auto* info = static_cast<const rtmsg*>(nlmsg_data(header));
  if (info->rtm_family != table.family || (info->rtm_flags & RTM_F_CLONED)) return true;
  if (table.protocol != 0 && info->rtm_protocol != table.protocol) return true;
  std::uint32_t number = info->rtm_table;
  const nlattr* attributes[RTA_MAX + 1] = {};
  int left = nlmsg_attrlen(header, sizeof(rtmsg));
  for (nlattr* at = nlmsg_attrdata(header, sizeof(rtmsg)); nla_ok(at, left); at = nla_next(at, &left))
    if (nla_type(at) <= RTA_MAX) attributes[nla_type(at)] = at;
  number = u32(attributes[RTA_TABLE], number);
  if (number != table.number) return true;
  if (seen.routes.size() >= kRouteLimit) {
    seen.full = true;
    return false;
  }

  Route route;
  route.family = table.family == AF_INET ? Family::inet : Family::inet6;
  if (info->rtm_dst_len > 0 || attributes[RTA_DST]) {
    const auto dst = address(attributes[RTA_DST], table.family);
    if (!dst || info->rtm_dst_len > dst->bits()) return true;
    route.dst = Prefix{*dst, info->rtm_dst_len};
  }
  route.type = type_name(info->rtm_type);
  if (info->rtm_scope != RT_SCOPE_UNIVERSE) route.scope = scope_name(info->rtm_scope);
  route.flags = route_flags(info->rtm_flags);
  if (number != RT_TABLE_MAIN) route.table = std::to_string(number);
  if (attributes[RTA_PRIORITY]) route.metric = u32(attributes[RTA_PRIORITY]);
  route.prefsrc = address(attributes[RTA_PREFSRC], table.family);
  if (attributes[RTA_MULTIPATH]) {
    parse_hops(attributes[RTA_MULTIPATH], table.family, names, route);
  } else {
    if (attributes[RTA_OIF]) route.dev = device(names, static_cast<int>(u32(attributes[RTA_OIF])));
    route.gateway = attributes[RTA_VIA] ? via(attributes[RTA_VIA]) : address(attributes[RTA_GATEWAY], table.family);
    constexpr int kNexthopId = 30;  // RTA_NH_ID, Linux 5.3
    if (!route.dev && kNexthopId <= RTA_MAX && attributes[kNexthopId]) ++seen.bare;
  }
  seen.routes.push_back(std::move(route));
  return true;
}

std::string label(const Table& table) {
  std::string text = table.family == AF_INET ? "IPv4" : "IPv6";
  if (table.number != RT_TABLE_MAIN) text += " (VRF table " + std::to_string(table.number) + ")";
  return text;
}

// nullopt where the table cannot be read.
std::optional<Seen> read_table(const Sources& sources, const Table& table, const Names& names, HostSnapshot& out) {
  rtmsg header{};
  header.rtm_family = static_cast<unsigned char>(table.family);
  header.rtm_protocol = table.protocol;
  DumpRequest request;
  request.type = RTM_GETROUTE;
  request.header.assign(reinterpret_cast<const char*>(&header), sizeof header);
  request.attribute = RTA_TABLE;
  request.value = table.number;
  const std::string family = table.family == AF_INET ? "4" : "6";
  request.recording = table.number == RT_TABLE_MAIN ? "route" + family + ".nl"
                                                    : "route-" + std::to_string(table.number) + "-" + family + ".nl";
  Seen seen;
  const DumpResult result = netlink_dump(
      sources, request, [&] { seen = {}; },
      [&](nlmsghdr* message) { return parse_route(message, table, names, seen); });
  if (!result.error.empty()) {
    note(out, "routes", label(table) + " routes could not be read (" + result.error + ")");
    return std::nullopt;
  }
  if (result.interrupted)
    note(out, "routes", label(table) + " routes changed while they were read; the list may have gaps");
  if (seen.bare)
    note(out, "routes",
         std::to_string(seen.bare) + " " + label(table) +
             " routes name their next hop by number only (net.ipv4.nexthop_compat_mode=0); their devices are unknown");
  return seen;
}

void add_table(const Sources& sources, Table table, const Names& names, HostSnapshot& out, std::vector<Route>& routes,
               bool& any) {
  auto seen = read_table(sources, table, names, out);
  if (!seen) return;
  any = true;
  for (Route& route : seen->routes) routes.push_back(std::move(route));
  if (!seen->full) return;
  // Connected routes decide most questions, and may have come after the limit.
  note(out, "routes",
       "more than " + std::to_string(kRouteLimit) + " " + label(table) +
           " routes; the first of them and the connected ones were read");
  std::set<std::pair<Prefix, std::string>> have;
  for (const Route& route : routes)
    if (route.dst && route.dev) have.emplace(*route.dst, *route.dev);
  table.protocol = RTPROT_KERNEL;
  auto connected = read_table(sources, table, names, out);
  if (!connected) return;
  for (Route& route : connected->routes)
    if (!route.dst || !route.dev || have.emplace(*route.dst, *route.dev).second) routes.push_back(std::move(route));
}

}  // namespace

void read_routes(const Sources& sources, HostSnapshot& out) {
  Names names;
  std::set<std::uint32_t> tables;
  for (const Link& link : known(out.links)) {
    names.emplace(link.ifindex, link.ifname);
    if (link.kind != "vrf") continue;
    const auto table = link.info_data.find("table");
    if (table != link.info_data.end()) tables.insert(static_cast<std::uint32_t>(std::stoul(table->second)));
  }
  if (tables.size() > kVrfLimit)
    note(out, "routes", "more than " + std::to_string(kVrfLimit) + " VRFs; the tables of the first were read");
  std::vector<Route> routes;
  bool any = false;
  for (const int family : {AF_INET, AF_INET6}) add_table(sources, {family, RT_TABLE_MAIN, 0}, names, out, routes, any);
  std::size_t count = 0;
  for (const std::uint32_t table : tables) {
    if (table == RT_TABLE_MAIN || ++count > kVrfLimit) continue;
    for (const int family : {AF_INET, AF_INET6}) add_table(sources, {family, table, 0}, names, out, routes, any);
  }
  if (any) out.routes = std::move(routes);
}

}  // namespace topoguard::host
