// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "decide/checks.h"
#include "decide/findings.h"
#include "decide/sockets.h"

namespace topoguard {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Which interface the kernel sends by into a subnet that several share: the only one with the lowest metric there.
const Link* sole_way_into(const View& view, const Prefix& subnet) {
  const Link* sole = nullptr;
  std::optional<std::uint32_t> lowest;
  for (const auto& link : known(view.host().links)) {
    for (const auto* route : view.routes_of(link)) {
      if (!route->dst || route->dst->network() != subnet || route->dev != link.ifname) continue;
      const auto metric = route->metric.value_or(0);
      if (!lowest || metric < *lowest) {
        lowest = metric;
        sole = &link;
      } else if (metric == *lowest && sole != &link) {
        sole = nullptr;
      }
    }
  }
  return sole;
}

void duplicate_subnet(const View& view, const Interfaces& interfaces, const SocketChoice& choice,
                      std::vector<Finding>& findings) {
  for (const auto& name : choice.ifnames) {
    const auto* chosen = view.link(name);
    const auto meant = choice.addresses.find(name);
    if (!chosen || meant == choice.addresses.end() || meant->second.is_loopback()) continue;
    const auto own = std::find_if(chosen->addr_info.begin(), chosen->addr_info.end(),
                                  [&](const LinkAddress& a) { return a.local == meant->second; });
    if (own == chosen->addr_info.end() || !usable_address(*own)) continue;
    const auto subnet = Prefix{own->local, own->prefixlen}.network();
    if (subnet.length == own->local.bits()) continue;
    if (sole_way_into(view, subnet) == chosen) continue;
    for (const auto& state : interfaces.all) {
      if (state.link == chosen || !view.running(*state.link) || state.verdict.reason == "enslaved") continue;
      const auto twin =
          std::find_if(state.link->addr_info.begin(), state.link->addr_info.end(), [&](const LinkAddress& a) {
            return usable_address(a) && a.prefixlen < a.local.bits() &&
                   Prefix{a.local, a.prefixlen}.network() == subnet;
          });
      if (twin == state.link->addr_info.end()) continue;
      findings.push_back(make_finding("duplicate-subnet", name,
                                      name + " (" + address_text(*own) + ") and " + state.link->ifname + " (" +
                                          address_text(*twin) + ") are both up in " + subnet.text() +
                                          ": the kernel may send by either, whatever address NCCL bound to"));
      break;
    }
  }
}

void pool_kind(const View& view, const Interfaces& interfaces, const SocketChoice& choice,
               std::vector<Finding>& findings) {
  if (choice.ifnames.empty()) return;
  const auto& first = choice.ifnames.front();
  const auto address = choice.addresses.find(first);
  const auto text = address == choice.addresses.end() ? std::string() : " (" + address->second.text() + ")";
  switch (interfaces.kind) {
    case PoolKind::link_local:
      findings.push_back(make_finding("link-local-only", first,
                                      first + text +
                                          " has only a link-local address: it reaches hosts on the same "
                                          "wire, and not through a router"));
      break;
    case PoolKind::virtual_by_peers:
      findings.push_back(
          make_finding("virtual-only", first,
                       first + text +
                           " is a virtual interface and the only one with a route to the "
                           "other hosts (" +
                           view.peers().front().text() + (view.peers().size() > 1 ? ", ..." : "") + "), so it is used",
                       "Give the hosts a common network on real interfaces, or expect a tunnel's speed."));
      break;
    case PoolKind::virtual_only:
      findings.push_back(make_finding("virtual-only", first,
                                      first + text +
                                          " is the only way out and is virtual: other hosts may be unable to "
                                          "connect to its address"));
      break;
    case PoolKind::loopback:
      findings.push_back(make_finding("loopback-only", first,
                                      "no interface but " + first +
                                          " is up with an address: only processes of this "
                                          "host can be reached"));
      break;
    case PoolKind::normal:
    case PoolKind::none:
      break;
  }
}

void unreachable(const View& view, const SocketChoice& choice, std::vector<Finding>& findings) {
  if (view.peers().empty() || choice.ifnames.empty()) return;
  for (const auto& name : choice.ifnames) {
    const auto* link = view.link(name);
    if (!link) return;
    for (const auto& peer : view.peers())
      if (view.reaches(*link, peer).value_or(true)) return;
  }
  std::vector<std::string> peers;
  for (const auto& peer : view.peers()) {
    if (peers.size() == 3) {
      peers.emplace_back("...");
      break;
    }
    peers.push_back(peer.text());
  }
  findings.push_back(make_finding(
      "peer-unreachable", choice.ifnames.front(),
      "the kernel has no route by " + joined(choice.ifnames) + " to any known peer (" + joined(peers) + ")"));
}

void not_steerable(const UserSettings& user, const SocketChoice& choice, const SocketSteering& steering,
                   std::vector<Finding>& findings) {
  if (choice.ifnames.empty() || user.ifname || (steering.names_agree && steering.addresses_agree)) return;
  for (const auto& name : choice.ifnames) {
    const auto meant = choice.addresses.find(name);
    if (meant == choice.addresses.end()) continue;
    const auto taken = std::find_if(steering.nearest.data.begin(), steering.nearest.data.end(),
                                    [&](const NcclInterface& i) { return i.device == name; });
    const bool here = taken != steering.nearest.data.end();
    if (here && taken->address == meant->second) continue;
    findings.push_back(make_finding("address-not-steerable", name,
                                    meant->second.text() + " on " + name + " is the right address, and NCCL takes " +
                                        (here ? "the first one there, " + taken->address.text() : "another interface") +
                                        "; no variable can name an address"));
  }
}

/// Wrong, and not just another good one.
std::string why_wrong(const View& view, const UserSettings& user, const InterfaceState& state,
                      const SocketChoice& choice) {
  if (user.ifname || state.verdict.verdict == Verdict::chosen) return "";
  if (state.verdict.verdict == Verdict::rejected) return state.verdict.detail;
  const auto* right = choice.ifnames.empty() ? nullptr : view.link(choice.ifnames.front());
  if (!right || view.peers().empty() || state.peers_reached > 0 || state.peers_unknown) return "";
  for (const auto& peer : view.peers())
    if (view.reaches(*right, peer).value_or(false)) return "no route to a known peer leaves by it";
  return "";
}

void bootstrap(const View& view, const UserSettings& user, Interfaces& interfaces, const SocketChoice& choice,
               const SocketSteering& steering, std::vector<Finding>& findings) {
  const auto& entry = view.host().topoguard;
  const auto right = choice.ifnames.empty() ? std::string("none") : choice.ifnames.front();
  std::string taken = entry.bootstrap.value_or("");
  // A net plugin is loaded after the bootstrap chose, by NCCL's own rules.
  const bool net_front_end = entry.front_end == "net";
  if (taken.empty() && net_front_end)
    if (const auto pick = replay_sockets(view, user, {}).bootstrap.interface) taken = pick->device;
  if (const auto* state = taken.empty() ? nullptr : interfaces.find(taken)) {
    if (const auto why = why_wrong(view, user, *state, choice); !why.empty())
      findings.push_back(make_finding(
          "bootstrap-not-covered", taken,
          "NCCL's bootstrap took " + taken + " (" + why + ") before topoguard was asked; " + right + " is right"));
  }
  const auto& fixed = steering.replay.bootstrap.interface;
  if (!user.is_set("NCCL_COMM_ID") || !fixed) return;
  if (const auto* state = interfaces.find(fixed->name))
    if (const auto why = why_wrong(view, user, *state, choice); !why.empty())
      findings.push_back(make_finding("comm-id-fixed", fixed->name,
                                      "with NCCL_COMM_ID set, the bootstrap of NCCL " + view.release().text() +
                                          " takes " + fixed->name + " (" + why + ") whatever else is set; " + right +
                                          " is right"));
}

}  // namespace

std::vector<Finding> check_speed(const View& view, const UserSettings& user, const Interfaces& interfaces,
                                 const SocketChoice& choice) {
  constexpr std::int64_t kFaster = 4;  // less may well be a storage network beside the hosts' own
  const auto* used = choice.ifnames.empty() || user.ifname ? nullptr : view.link(choice.ifnames.front());
  if (used == nullptr || knows_peers(view)) return {};
  const InterfaceState* fastest = nullptr;
  for (const auto* state : interfaces.pool) {
    const auto& reason = state->verdict.reason;
    if ((reason != "no-default-route" && reason != "no-route-to-peers") || !view.speed_mbps(*state->link)) continue;
    const Prefix subnet{state->address->local, state->address->prefixlen};
    if (subnet.contains(choice.addresses.at(used->ifname))) continue;  // duplicate-subnet tells of these
    if (fastest == nullptr || *view.speed_mbps(*state->link) > *view.speed_mbps(*fastest->link)) fastest = state;
  }
  if (fastest == nullptr || *view.speed_mbps(*fastest->link) < kFaster * reckoned_speed(view, *used)) return {};
  const auto& name = fastest->link->ifname;
  const auto subnet = Prefix{fastest->address->local, fastest->address->prefixlen}.network().text();
  return {make_finding("faster-without-route", name,
                       name + " (" + std::to_string(*view.speed_mbps(*fastest->link) / 1000) +
                           " Gb/s) is faster than " + used->ifname +
                           ", which is used because the default route or the one to " +
                           "MASTER_ADDR leaves by it; whether the other hosts are in " + subnet + " is not known here",
                       "If they are, set TOPOGUARD_SUBNETS=" + subnet + " (in /etc/topoguard.conf, for example).")};
}

std::vector<Finding> check_sockets(const View& view, const UserSettings& user, Interfaces& interfaces,
                                   const SocketChoice& choice, const SocketSteering& steering) {
  std::vector<Finding> findings;
  if (!view.host().links)
    findings.push_back(make_finding("interfaces-unknown", "",
                                    "the network interfaces of this host could not be read: NCCL chooses among them by "
                                    "its own rules, and no other check here knows of them"));
  if (!user.ifname) pool_kind(view, interfaces, choice, findings);
  duplicate_subnet(view, interfaces, choice, findings);
  unreachable(view, choice, findings);
  not_steerable(user, choice, steering, findings);
  bootstrap(view, user, interfaces, choice, steering, findings);
  return findings;
}

}  // namespace topoguard
