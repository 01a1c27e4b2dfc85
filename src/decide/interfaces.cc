// SPDX-License-Identifier: Apache-2.0
#include "decide/interfaces.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "decide/interface_rules.h"
#include "decide/interface_trace.h"

namespace topoguard {
namespace {

bool virtual_standing(Standing standing) {
  return standing == Standing::virtual_good || standing == Standing::virtual_link_local;
}

bool matches(const View& view, const Selector& selector, const Link& link) {
  switch (selector.by) {
    case Selector::By::name:
      return link.ifname == selector.text;
    case Selector::By::kind:
      return view.kind(link) == selector.text;
    case Selector::By::prefix:
      return std::any_of(link.addr_info.begin(), link.addr_info.end(),
                         [&](const LinkAddress& a) { return selector.prefix.contains(a.local); });
  }
  return false;
}

int subnet_rank(const Policy& policy, const IpAddress& address) {
  const auto at = std::find_if(policy.subnets.begin(), policy.subnets.end(),
                               [&](const Prefix& subnet) { return subnet.contains(address); });
  return static_cast<int>(at - policy.subnets.begin());
}

void count_peers(const View& view, InterfaceState& state) {
  // Others are told to connect to it: as good as a route to one of them.
  if (view.announced() == state.link) ++state.peers_reached;
  for (const auto& peer : view.peers()) {
    const auto reaches = view.reaches(*state.link, peer);
    if (!reaches) state.peers_unknown = true;
    if (reaches.value_or(false)) ++state.peers_reached;
  }
}

/// Bootstrap order: policy, peers, default route, global address, ifindex.
auto bootstrap_order(const View& view, const InterfaceState& state) {
  const auto metric = view.default_metric(*state.link);
  const bool deprecated = state.address && state.address->deprecated.value_or(false);
  return std::tuple(state.policy_rank, -state.peers_reached, !state.peers_unknown, !metric.has_value(),
                    metric.value_or(std::numeric_limits<std::uint32_t>::max()), deprecated, state.link->ifindex,
                    std::string_view(state.link->ifname));
}

class Pool {
 public:
  Pool(const View& view, const Policy& policy, Interfaces& interfaces)
      : view_(view), policy_(policy), interfaces_(interfaces) {}

  void fill() {
    auto good = pick([](const InterfaceState& s) { return s.standing == Standing::good && !s.excluded && s.included; });
    // The operator wants a virtual device: that is as good as any. A wide subnet is no word for a container bridge.
    if (good.empty() && restricted())
      good = pick([](const InterfaceState& s) {
        const bool leads_away = s.verdict.reason == "tunnel-endpoint" || s.verdict.reason == "overlay";
        return virtual_standing(s.standing) && !s.excluded && s.included && (s.named || leads_away);
      });
    if (good.empty()) good = pick([](const InterfaceState& s) { return s.standing == Standing::good && !s.excluded; });
    if (none_reaches(good)) {
      auto way = pick(
          [](const InterfaceState& s) { return virtual_standing(s.standing) && !s.excluded && s.peers_reached > 0; });
      if (!way.empty()) return take(std::move(way), PoolKind::virtual_by_peers, true);
    }
    if (!good.empty()) {
      const bool hidden = behind_translation(good);
      return take(std::move(good), hidden ? PoolKind::virtual_only : PoolKind::normal, hidden);
    }
    take_fallback();
  }

 private:
  using Test = bool (*)(const InterfaceState&);

  bool restricted() const { return !policy_.include.empty() || !policy_.subnets.empty(); }

  template <typename Wanted>
  std::vector<InterfaceState*> pick(Wanted wanted) {
    std::vector<InterfaceState*> found;
    for (auto& state : interfaces_.all)
      if (state.address && wanted(state)) found.push_back(&state);
    return found;
  }

  bool none_reaches(const std::vector<InterfaceState*>& states) const {
    return !view_.peers().empty() && std::all_of(states.begin(), states.end(), [](const InterfaceState* s) {
      return s->peers_reached == 0 && !s->peers_unknown;
    });
  }

  /// A container on a bridge of its own host: other hosts see the host's address, not the container's. Kubernetes'
  /// network model forbids that; a public IPv6 address or peers on the same wire show that it is not so.
  bool behind_translation(const std::vector<InterfaceState*>& states) const {
    if (view_.kubernetes()) return false;
    for (const auto* state : states) {
      if (!paired_kind(view_.kind(*state->link))) return false;
      const auto& local = state->address->local;
      if (local.family == Family::inet6 && (local.bytes[0] & 0xe0) == 0x20) return false;
    }
    if (std::any_of(states.begin(), states.end(), [&](const auto* s) { return s->link == view_.announced(); }))
      return false;
    if (view_.peers().empty()) return true;
    return std::any_of(view_.peers().begin(), view_.peers().end(), [&](const IpAddress& peer) {
      const auto way = view_.way_to(peer);
      return !way || way->devices.empty() || way->by_default_route;
    });
  }

  void take_fallback() {
    struct Step {
      Test wanted;
      PoolKind kind;
      bool one;
    };
    static constexpr Step kSteps[] = {
        {[](const InterfaceState& s) { return s.standing == Standing::link_local && !s.excluded; },
         PoolKind::link_local, false},
        {[](const InterfaceState& s) { return s.standing == Standing::good; }, PoolKind::normal, false},
        {[](const InterfaceState& s) { return s.standing == Standing::link_local; }, PoolKind::link_local, false},
        {[](const InterfaceState& s) { return s.standing == Standing::virtual_good && !s.excluded; },
         PoolKind::virtual_only, true},
        {[](const InterfaceState& s) { return s.standing == Standing::virtual_good; }, PoolKind::virtual_only, true},
        {[](const InterfaceState& s) { return s.standing == Standing::virtual_link_local; }, PoolKind::virtual_only,
         true},
        {[](const InterfaceState& s) { return s.standing == Standing::loopback; }, PoolKind::loopback, true},
    };
    for (const auto& step : kSteps) {
      auto found = pick(step.wanted);
      if (!found.empty()) return take(std::move(found), step.kind, step.one);
    }
  }

  void take(std::vector<InterfaceState*> states, PoolKind kind, bool one) {
    std::sort(states.begin(), states.end(), [&](const InterfaceState* a, const InterfaceState* b) {
      return bootstrap_order(view_, *a) < bootstrap_order(view_, *b);
    });
    if (one) states.resize(1);
    interfaces_.pool = std::move(states);
    interfaces_.kind = kind;
  }

  const View& view_;
  const Policy& policy_;
  Interfaces& interfaces_;
};

void apply_policy(const View& view, const Policy& policy, InterfaceState& state) {
  const auto any = [&](const std::vector<Selector>& selectors) {
    return std::any_of(selectors.begin(), selectors.end(),
                       [&](const Selector& selector) { return matches(view, selector, *state.link); });
  };
  state.excluded = any(policy.exclude);
  if (!policy.include.empty()) {
    state.included = any(policy.include);
    state.named = std::any_of(policy.include.begin(), policy.include.end(), [&](const Selector& selector) {
      return selector.by != Selector::By::prefix && matches(view, selector, *state.link);
    });
  }
  if (policy.subnets.empty() || !state.address) return;
  state.policy_rank = subnet_rank(policy, state.address->local);
  if (state.policy_rank == static_cast<int>(policy.subnets.size())) state.included = false;
}

FilterUses filter_uses(const View& view, const Policy& policy, const Interfaces& interfaces) {
  FilterUses uses;
  const auto included = [&](const InterfaceState& state) {
    return std::any_of(policy.include.begin(), policy.include.end(),
                       [&](const Selector& selector) { return matches(view, selector, *state.link); });
  };
  const int no_subnet = static_cast<int>(policy.subnets.size());
  for (const auto& state : interfaces.all) {
    uses.include.names = uses.include.names || included(state);
    uses.include_excluded = uses.include_excluded || (included(state) && state.excluded);
    uses.exclude.names = uses.exclude.names || state.excluded;
    for (const auto& address : state.link->addr_info)
      uses.subnets.names = uses.subnets.names || subnet_rank(policy, address.local) < no_subnet;
  }
  for (const auto* state : interfaces.pool) {
    uses.include.followed = uses.include.followed || included(*state);
    uses.exclude.overridden = uses.exclude.overridden || state->excluded;
    uses.subnets.followed = uses.subnets.followed || subnet_rank(policy, state->address->local) < no_subnet;
  }
  return uses;
}

void judge(const View& view, InterfaceState& state, bool only_routable_elsewhere, std::vector<RuleMatch>& trace) {
  const InterfaceFacts facts{view, *state.link, state.address, only_routable_elsewhere};
  for (const auto& rule : interface_rules()) {
    if (!rule.when(facts)) continue;
    state.standing = rule.standing;
    if (rule.standing == Standing::virtual_good && !(state.address && usable_address(*state.address)))
      state.standing = state.address ? Standing::virtual_link_local : Standing::unusable;
    const bool good = state.standing == Standing::good;
    state.verdict = {DeviceKind::netdev, state.link->ifname, good ? Verdict::eligible : Verdict::rejected, rule.reason,
                     rule.detail(facts)};
    trace.push_back(
        {state.link->ifname, rule.id, std::string(verdict_name(state.verdict.verdict)) + ": " + state.verdict.detail});
    break;
  }
  if (!state.excluded || state.standing == Standing::unusable) return;
  state.verdict.verdict = Verdict::rejected;
  state.verdict.reason = "excluded";
  state.verdict.detail = "TOPOGUARD_EXCLUDE names it";
  trace.push_back({state.link->ifname, "excluded", "rejected: TOPOGUARD_EXCLUDE names it"});
}

}  // namespace

InterfaceState* Interfaces::find(const std::string& ifname) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const auto& s) { return s.link->ifname == ifname; });
  return at == all.end() ? nullptr : &*at;
}

Interfaces judge_interfaces(const View& view, const Policy& policy, const UserSettings& user) {
  Interfaces interfaces;
  interfaces.all.reserve(view.links().size());
  // BGP unnumbered: the default route's source lies on lo or a dummy, and what it leaves by has no address of its own.
  // A management network may be there beside it.
  bool physical_address = false, addressed_uplink = false;
  for (const auto* link : view.links()) {
    InterfaceState state;
    state.link = link;
    state.address = best_address(view, policy, user, *link);
    apply_policy(view, policy, state);
    if (view.physical_backed(*link) && view.running(*link) && state.address && usable_address(*state.address)) {
      physical_address = true;
      addressed_uplink = addressed_uplink || view.default_route(*link);
    }
    interfaces.all.push_back(std::move(state));
  }
  for (auto& state : interfaces.all) {
    trace_facts(view, state, interfaces.trace);
    const bool elsewhere = !physical_address || (!addressed_uplink && view.default_route(*state.link));
    judge(view, state, elsewhere, interfaces.trace);
    if (!state.address || state.standing == Standing::unusable) continue;
    count_peers(view, state);
    trace_reach(view, state, interfaces.trace);
  }
  Pool(view, policy, interfaces).fill();
  interfaces.filters = filter_uses(view, policy, interfaces);
  trace_pool(interfaces);
  return interfaces;
}

std::string address_text(const LinkAddress& address) {
  return address.local.text() + "/" + std::to_string(address.prefixlen);
}

}  // namespace topoguard
