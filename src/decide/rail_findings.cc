// SPDX-License-Identifier: Apache-2.0
#include "decide/rail_findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "decide/findings.h"

namespace topoguard {
namespace {

using Ports = std::vector<PortState*>;

constexpr std::size_t kNamed = 8;

bool link_local_only(const PortState& state) {
  return state.ethernet() && state.gids.best() != nullptr && state.gids.best()->rank.link_local;
}

/// Every row after that of link-local addresses would keep it beside the ports that are left.
bool nothing_else_against(const FilterContext& context, const Ports& left, PortState& state) {
  auto beside = left;
  beside.push_back(&state);
  bool later = false;
  for (const auto& row : hca_filter_rows()) {
    if (later && row.leaves_out(context, beside).back()) return false;
    later = later || row.reason == "link-local";
  }
  return state.gbps && std::any_of(left.begin(), left.end(), [&](const PortState* other) {
           return other->layer == state.layer && other->gbps && same_class(*other->gbps, *state.gbps);
         });
}

/// "0000:4b:00" of "0000:4b:00.1", and of its virtual functions.
std::string card(const RdmaDevice& device) {
  const auto& id = device.physfn && !device.physfn->empty() ? device.physfn : device.pci;
  if (!id || id->empty()) return device.name;
  const auto function = normal_pci_id(*id);
  return function.substr(0, function.rfind('.'));
}

const Link* netdev_of(const FilterContext& context, const PortState& state) {
  return state.port->netdev ? context.view.link(*state.port->netdev) : nullptr;
}

bool enslaved(const Link* netdev) { return netdev != nullptr && netdev->master && !netdev->master->empty(); }

/// Another port of its card is used, and no card is used with two: a second port without an address is nothing odd.
bool spare(const Ports& left, const PortState& state) {
  std::map<std::string, int> used;
  for (const auto* other : left) {
    if (other->device == state.device) return true;  // representors are ports of one device
    ++used[card(*other->device)];
  }
  if (used.count(card(*state.device)) == 0) return false;
  return std::all_of(used.begin(), used.end(), [](const auto& entry) { return entry.second < 2; });
}

}  // namespace

std::vector<Finding> rail_findings(const FilterContext& context, std::vector<PortState>& states) {
  std::vector<Finding> findings;
  Ports left;
  for (auto& state : states)
    if (state.left()) left.push_back(&state);
  std::vector<std::string> bare;
  for (const auto* port : left)
    if (link_local_only(*port) && !software_rdma(*port->device) && !enslaved(netdev_of(context, *port)))
      bare.push_back(port->name());
  if (!left.empty() && bare.size() == left.size()) {
    const auto more = bare.size() > kNamed ? fmt::format(" and {} more", bare.size() - kNamed) : std::string();
    if (!more.empty()) bare.resize(kNamed);
    findings.push_back(make_finding(
        "gid-link-local", left.size() == 1 ? left.front()->device->name : "",
        fmt::format(
            "RoCE goes over link-local addresses, since {}{} {} no other: that reaches hosts on the same wire or "
            "switch, and nothing behind a router",
            fmt::join(bare, ", "), more, left.size() == 1 ? "has" : "have")));
    findings.back().severity = Severity::info;  // two hosts with a cable between them need no more
    return findings;
  }
  for (auto& state : states) {
    if (state.port == nullptr || state.reason != "link-local" || software_rdma(*state.device)) continue;
    const auto* netdev = netdev_of(context, state);
    if (netdev == nullptr || enslaved(netdev)) continue;
    if (!nothing_else_against(context, left, state)) continue;
    if (spare(left, state)) continue;
    findings.push_back(make_finding(
        "gid-link-local", state.device->name,
        fmt::format(
            "{} port {} is active and as fast as the chosen HCAs, and {} has no address but link-local ones ({}): "
            "it is left out",
            state.device->name, state.port->port, netdev->ifname, state.gids.best()->entry->gid.address().text()),
        fmt::format("Give {0} an address as the others have (DHCP, static configuration). If {1} is not meant for the "
                    "job, name it in TOPOGUARD_EXCLUDE.",
                    netdev->ifname, state.device->name)));
  }
  return findings;
}

}  // namespace topoguard
