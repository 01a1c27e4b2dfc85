// SPDX-License-Identifier: Apache-2.0
#include "decide/interface_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace topoguard {
namespace {

constexpr std::size_t kMostNamed = 4;

std::string names(const std::vector<const Link*>& links) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostNamed, links.size()); ++i) text += (i > 0 ? ", " : "") + links[i]->ifname;
  return links.size() > kMostNamed ? fmt::format("{} and {} more", text, links.size() - kMostNamed) : text;
}

std::string kind_text(const View& view, const Link& link) {
  const auto kind = view.kind(link);
  return kind.empty() ? "kind unknown" : "kind " + std::string(kind);
}

std::string backing(const View& view, const Link& link) {
  if (view.on_bus(link)) {
    const auto bus = link.parentbus.value_or("a bus") + (link.parentdev ? " " + *link.parentdev : "");
    return "physical: hangs on " + bus + (link.driver ? " (" + *link.driver + ")" : "");
  }
  const bool physical = view.physical_backed(link);
  const auto below = view.bottoms(link);
  const bool alone = below.size() == 1 && below.front() == &link;
  if (physical && view.way_out(link)) return "counts as physical: it is this namespace's way out";
  if (physical && view.lower_elsewhere(link)) return "counts as physical: the device below it is in another namespace";
  if (physical && !alone) return "physical: stands on " + names(below);
  if (physical) return "counts as physical: " + kind_text(view, link);
  return "virtual: " + kind_text(view, link) + (alone ? ", nothing below it" : ", above " + names(below));
}

const char* left_as(PoolKind kind) {
  switch (kind) {
    case PoolKind::normal:
      return "good ones";
    case PoolKind::link_local:
      return "ones with a link-local address, since no better is there";
    case PoolKind::virtual_by_peers:
      return "virtual ones with a route to a peer, since no physical one has any";
    case PoolKind::virtual_only:
      return "virtual ones, since nothing else is there";
    case PoolKind::loopback:
      return "loopback interfaces, since nothing else is there";
    case PoolKind::none:
      break;
  }
  return "none";
}

}  // namespace

void trace_facts(const View& view, const InterfaceState& state, std::vector<RuleMatch>& trace) {
  const auto& link = *state.link;
  if (!view.loopback(link)) trace.push_back({link.ifname, "backing", backing(view, link)});
  if (link.addr_info.size() > 1 && state.address != nullptr)
    trace.push_back(
        {link.ifname, "address",
         fmt::format("{} is the one used, of its {} addresses", address_text(*state.address), link.addr_info.size())});
}

void trace_reach(const View& view, const InterfaceState& state, std::vector<RuleMatch>& trace) {
  const auto& name = state.link->ifname;
  if (view.announced() == state.link) trace.push_back({name, "peers", "the other hosts are told its address"});
  if (!view.peers().empty()) {
    const auto own = view.announced() == state.link ? 1 : 0;
    trace.push_back({name, "peers",
                     fmt::format("routes to {} of {} known peers leave by it{}", state.peers_reached - own,
                                 view.peers().size(), state.peers_unknown ? "; of some it cannot be told" : "")});
  }
  if (!state.included) trace.push_back({name, "policy", "outside TOPOGUARD_INCLUDE or TOPOGUARD_SUBNETS"});
}

void trace_pool(Interfaces& interfaces) {
  const std::set<const InterfaceState*> left(interfaces.pool.begin(), interfaces.pool.end());
  for (const auto* state : interfaces.pool)
    interfaces.trace.push_back(
        {state->link->ifname, "candidates",
         fmt::format("left to choose from: {} in all, {}", left.size(), left_as(interfaces.kind))});
  for (const auto& state : interfaces.all)
    if (state.standing == Standing::good && left.count(&state) == 0)
      interfaces.trace.push_back({state.link->ifname, "candidates",
                                  fmt::format("not among those left, which are {}", left_as(interfaces.kind))});
}

}  // namespace topoguard
