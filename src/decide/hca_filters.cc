// SPDX-License-Identifier: Apache-2.0
#include "decide/hca_filters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace topoguard {

namespace {

using Ports = std::vector<PortState*>;
using Marks = std::vector<bool>;

constexpr std::size_t kMostNamed = 4;

Marks mark(const Ports& ports, const std::function<bool(const PortState&)>& out) {
  Marks marks;
  for (const auto* port : ports) marks.push_back(out(*port));
  return marks;
}

bool selects(const FilterContext& context, const Selector& selector, const PortState& state) {
  const auto netdev = state.port->netdev.value_or("");
  switch (selector.by) {
    case Selector::By::name:
      if (selector.text == state.device->name || selector.text == state.name()) return true;
      if (!netdev.empty() && selector.text == netdev) return true;
      return std::any_of(state.gids.usable.begin(), state.gids.usable.end(), [&](const UsableGid& gid) {
        return gid.netdev != nullptr && gid.netdev->ifname == selector.text;
      });
    case Selector::By::prefix:
      return state.gids.best() != nullptr && selector.prefix.contains(state.gids.best()->entry->gid.address());
    case Selector::By::kind: {
      const auto* link = context.view.link(netdev);
      return link != nullptr && context.view.kind(*link) == selector.text;
    }
  }
  return false;
}

bool selected(const FilterContext& context, const std::vector<Selector>& selectors, const PortState& state) {
  return std::any_of(selectors.begin(), selectors.end(),
                     [&](const Selector& selector) { return selects(context, selector, state); });
}

Marks excluded(const FilterContext& context, const Ports& left) {
  return mark(left, [&](const PortState& s) { return selected(context, context.policy.exclude, s); });
}

// TOPOGUARD_INCLUDE also lists interfaces: where it names no HCA, it says nothing about them.
Marks not_included(const FilterContext& context, const Ports& left) {
  if (context.policy.include.empty()) return Marks(left.size(), false);
  return mark(left, [&](const PortState& s) { return !selected(context, context.policy.include, s); });
}

Marks other_subnet(const FilterContext& context, const Ports& left) {
  const int none = static_cast<int>(context.policy.subnets.size());
  int best = none;
  for (const auto* port : left)
    if (port->gids.best() != nullptr) best = std::min(best, port->gids.best()->rank.policy_subnet);
  if (best == none) return Marks(left.size(), false);
  return mark(
      left, [&](const PortState& s) { return s.gids.best() != nullptr && s.gids.best()->rank.policy_subnet == none; });
}

bool link_local_only(const PortState& state) {
  return state.gids.best() != nullptr && state.gids.best()->rank.link_local;
}

Marks link_local(const FilterContext&, const Ports& left) { return mark(left, link_local_only); }

Marks virtual_functions(const FilterContext&, const Ports& left) {
  std::set<std::string> functions;
  for (const auto* port : left)
    if (port->device->pci) functions.insert(normal_pci_id(*port->device->pci));
  return mark(left, [&](const PortState& s) {
    return s.device->physfn && !s.device->physfn->empty() && functions.count(normal_pci_id(*s.device->physfn)) > 0;
  });
}

Marks software(const FilterContext&, const Ports& left) {
  return mark(left, [](const PortState& s) { return software_rdma(*s.device); });
}

Marks other_layer(const FilterContext&, const Ports& left) {
  const auto layer = majority_layer(left);
  return mark(left, [&](const PortState& s) { return s.layer != layer; });
}

double fastest(const Ports& ports) {
  double best = 0;
  for (const auto* port : ports) best = std::max(best, port->gbps.value_or(0));
  return best;
}

Marks slower(const FilterContext&, const Ports& left) {
  const double best = fastest(left);
  return mark(left, [&](const PortState& s) { return s.gbps && !same_class(*s.gbps, best); });
}

Marks older_roce(const FilterContext&, const Ports& left) {
  const bool some_v2 = std::any_of(left.begin(), left.end(), [](const PortState* s) {
    return s->gids.best() != nullptr && s->gids.best()->rank.version == 0;
  });
  return mark(left, [&](const PortState& s) {
    return some_v2 && s.gids.best() != nullptr && s.gids.best()->rank.version == 1;
  });
}

// From near to far: a class is kept where it is the nearest of all, or for the GPUs that have nothing kept as near.
// A port whose distance to some GPU nothing tells is not left out.
Marks farther(const FilterContext& context, const Ports& left) {
  Marks marks(left.size(), !known(context.view.host().gpus).empty());
  struct Row {
    std::vector<std::optional<PathClass>> to;
    std::optional<PathClass> nearest;
  };
  std::vector<Row> rows;
  for (const auto& gpu : known(context.view.host().gpus)) {
    Row row;
    for (const auto* port : left) {
      row.to.push_back(context.topology.path(gpu, *port->device));
      if (row.to.back() && (!row.nearest || *row.to.back() < *row.nearest)) row.nearest = row.to.back();
    }
    // A GPU of which nothing is known may be the one that this port is for.
    for (std::size_t i = 0; i < left.size(); ++i)
      if (!row.to[i]) marks[i] = false;
    rows.push_back(std::move(row));
  }
  std::optional<PathClass> best;
  for (const auto* port : left)
    if (port->nearest && (!best || *port->nearest < *best)) best = port->nearest;
  for (std::size_t i = 0; i < left.size(); ++i)
    if (left[i]->nearest == best) marks[i] = false;
  for (const auto at : {PathClass::PIX, PathClass::PXB, PathClass::PHB, PathClass::NODE, PathClass::SYS}) {
    const Marks before = marks;
    for (const auto& row : rows) {
      if (row.nearest != at) continue;
      const auto kept_as_near = [&](std::size_t i) { return !before[i] && row.to[i] && *row.to[i] <= at; };
      bool served = false;
      for (std::size_t i = 0; i < left.size(); ++i) served = served || kept_as_near(i);
      for (std::size_t i = 0; !served && i < left.size(); ++i)
        if (row.to[i] == at) marks[i] = false;
    }
  }
  return marks;
}

std::string card_function(const PortState& state) {
  if (state.device->physfn && !state.device->physfn->empty()) return normal_pci_id(*state.device->physfn);
  return state.device->pci ? normal_pci_id(*state.device->pci) : state.device->name;
}

std::string text(const std::optional<double>& gbps) { return gbps ? fmt::format("{:g} Gb/s", *gbps) : "unknown speed"; }

}  // namespace

bool same_class(double a, double b) { return std::min(a, b) >= 0.95 * std::max(a, b); }

std::string_view majority_layer(const std::vector<PortState*>& ports) {
  const double best = fastest(ports);
  std::map<std::string_view, std::set<std::string>> cards;
  for (const auto* port : ports)
    if (!port->gbps || same_class(*port->gbps, best)) cards[port->layer].insert(card_function(*port));
  return cards["Ethernet"].size() > cards["InfiniBand"].size() ? "Ethernet" : "InfiniBand";
}

const std::vector<FilterRow>& hca_filter_rows() {
  static const std::vector<FilterRow> rows{
      {"excluded", "TOPOGUARD_EXCLUDE", Verdict::rejected, excluded,
       [](const FilterContext&, const PortState&, const Ports&) {
         return std::string("is in TOPOGUARD_EXCLUDE, and others are left");
       }},
      {"outside-policy", "TOPOGUARD_INCLUDE", Verdict::eligible, not_included,
       [](const FilterContext&, const PortState&, const Ports&) { return std::string("is not in TOPOGUARD_INCLUDE"); }},
      {"outside-policy", "TOPOGUARD_SUBNETS", Verdict::eligible, other_subnet,
       [](const FilterContext&, const PortState& s, const Ports&) {
         return fmt::format("has {}, outside TOPOGUARD_SUBNETS", s.gids.best()->entry->gid.address().text());
       }},
      {"link-local", "28-spark-four-roce-ports", Verdict::rejected, link_local,
       [](const FilterContext&, const PortState& s, const Ports&) {
         return fmt::format("has only link-local addresses (best: {}), and other ports have better",
                            s.gids.best()->entry->gid.text());
       }},
      {"virtual-function", "73-eighteen-vfs", Verdict::eligible, virtual_functions,
       [](const FilterContext&, const PortState& s, const Ports&) {
         return fmt::format("is a virtual function of {}, which is used itself", *s.device->physfn);
       }},
      {"software-rdma", "Soft-RoCE beside an HCA", Verdict::eligible, software,
       [](const FilterContext&, const PortState&, const Ports&) {
         return std::string("is RDMA in software, and a hardware device is there");
       }},
      {"other-link-layer", "17-mixed-ib-roce", Verdict::eligible, other_layer,
       [](const FilterContext&, const PortState& s, const Ports& kept) {
         return fmt::format("is {}, and most of the fastest ports are {}: the two cannot talk to each other", s.layer,
                            kept.front()->layer);
       }},
      {"slower", "18a-speed-class-node-1, 46-v1-only-beside-v2, 94a-one-of-eight-trained-down", Verdict::eligible,
       slower,
       [](const FilterContext&, const PortState& s, const Ports& kept) {
         return fmt::format("runs at {}, others at {}: NCCL would wait for the slow one", text(s.gbps),
                            text(fastest(kept)));
       }},
      {"older-roce", "46-v1-only-beside-v2", Verdict::eligible, older_roce,
       [](const FilterContext&, const PortState&, const Ports&) {
         return std::string("offers RoCE v1 only, and others RoCE v2: the two cannot talk to each other");
       }},
      {"far", "48-storage-hcas, 70a-ten-hcas-two-far, 70b-odd-one-out, 107-each-socket-its-nearest", Verdict::eligible,
       farther,
       [](const FilterContext&, const PortState& s, const Ports&) {
         return fmt::format("is {} from its nearest GPU, and every GPU has one that is kept as near or nearer",
                            s.nearest ? path_class_name(*s.nearest) : "unknown");
       }},
  };
  return rows;
}

FilterUses filter_uses(const FilterContext& context, const std::vector<PortState>& states) {
  const auto& policy = context.policy;
  const int no_subnet = static_cast<int>(policy.subnets.size());
  FilterUses uses;
  for (const auto& state : states) {
    if (state.port == nullptr) continue;
    const bool included = selected(context, policy.include, state);
    const bool excluded = selected(context, policy.exclude, state);
    const bool in_subnet = state.gids.best() != nullptr && state.gids.best()->rank.policy_subnet < no_subnet;
    uses.include.names = uses.include.names || included;
    uses.include_excluded = uses.include_excluded || (included && excluded);
    uses.exclude.names = uses.exclude.names || excluded;
    uses.subnets.names = uses.subnets.names || in_subnet;
    if (!state.left()) continue;
    uses.include.followed = uses.include.followed || included;
    uses.exclude.overridden = uses.exclude.overridden || excluded;
    uses.subnets.followed = uses.subnets.followed || in_subnet;
  }
  return uses;
}

void filter_ports(const FilterContext& context, std::vector<PortState>& states, std::vector<RuleMatch>& trace) {
  for (const auto& row : hca_filter_rows()) {
    Ports left;
    for (auto& state : states)
      if (state.left()) left.push_back(&state);
    if (left.empty()) return;
    const auto marks = row.leaves_out(context, left);
    const auto out = std::count(marks.begin(), marks.end(), true);
    if (out == 0) continue;
    if (out == static_cast<std::ptrdiff_t>(left.size())) {
      for (const auto* port : left)
        trace.push_back({port->device->name, std::string(row.reason), "would leave nothing: not applied"});
      continue;
    }
    Ports kept;
    std::vector<std::string> others;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (!marks[i]) kept.push_back(left[i]);
      if (marks[i] && others.size() < kMostNamed) others.push_back(left[i]->name());
    }
    const auto more = static_cast<std::size_t>(out) - others.size();
    const auto without =
        fmt::format("{}{}", fmt::join(others, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
    for (const auto* port : kept)
      trace.push_back({port->device->name, std::string(row.reason),
                       fmt::format("port {} kept; it leaves out {}", port->port->port, without)});
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (!marks[i]) continue;
      left[i]->verdict = row.verdict;
      left[i]->reason = row.reason;
      left[i]->detail = row.detail(context, *left[i], kept);
      trace.push_back({left[i]->device->name, left[i]->reason,
                       fmt::format("port {} left out: {}", left[i]->port->port, left[i]->detail)});
    }
  }
}

}  // namespace topoguard
