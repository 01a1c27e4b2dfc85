// SPDX-License-Identifier: Apache-2.0
#include "decide/hcas.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "decide/gid_trace.h"
#include "decide/hca_filters.h"
#include "decide/hca_findings.h"
#include "decide/hca_ports.h"
#include "decide/hca_steering.h"
#include "decide/rail_findings.h"
#include "nccl_rules/hcas.h"

namespace topoguard {

namespace {

void leave_out(PortState& state, std::string_view reason, std::string detail, std::vector<RuleMatch>& trace) {
  if (state.verdict != Verdict::rejected) state.verdict = Verdict::eligible;
  state.reason = reason;
  state.detail = std::move(detail);
  trace.push_back(
      {state.device->name, state.reason, fmt::format("port {} left out: {}", state.port->port, state.detail)});
}

// The user's NCCL_IB_HCA decides, whatever topoguard thinks of each port.
void obey_list(const View& view, const std::optional<NameList>& list, std::vector<PortState>& states,
               std::vector<RuleMatch>& trace) {
  std::set<std::string> taken;
  for (const auto& port : nccl_hcas(view.release(), known(view.host().rdma), list))
    taken.insert(port.device->name + ":" + std::to_string(port.port->port));
  for (auto& state : states) {
    if (state.port == nullptr) continue;
    if (taken.count(state.name()) > 0) {
      const std::string doubt = state.left() ? "" : " although it " + state.detail;
      state.verdict = Verdict::chosen;
      state.reason = "user-listed";
      state.detail = "NCCL_IB_HCA takes it" + doubt;
      trace.push_back(
          {state.device->name, state.reason, fmt::format("port {} chosen: {}", state.port->port, state.detail)});
    } else if (state.left()) {
      leave_out(state, "not-listed", "NCCL_IB_HCA does not take it", trace);
    }
  }
}

void respect_limit(const View& view, std::vector<PortState>& states, std::vector<RuleMatch>& trace) {
  int count = 0;
  for (auto& state : states)
    if (state.left() && ++count > view.release().max_hcas())
      leave_out(state, "nccl-limit",
                fmt::format("is beyond the {} ports that NCCL {} uses at most", view.release().max_hcas(),
                            view.release().text()),
                trace);
}

std::vector<std::string> names(const std::vector<PortState>& states) {
  std::vector<std::string> found;
  for (const auto& state : states)
    if (state.left()) found.push_back(state.name());
  std::sort(found.begin(), found.end(), natural_less);
  return found;
}

std::vector<std::string> sorted_names(const std::vector<NcclPort>& ports) {
  std::vector<std::string> found;
  for (const auto& port : ports) found.push_back(port.device->name + ":" + std::to_string(port.port->port));
  std::sort(found.begin(), found.end(), natural_less);
  return found;
}

HcaChoice choice(const Topology& topology, const PortState& state, const SteeredPort& steered) {
  HcaChoice hca;
  hca.name = state.device->name;
  hca.port = state.port->port;
  hca.link_layer = state.layer;
  hca.netdev = state.port->netdev;
  hca.rate_gbps = state.gbps;
  hca.numa_node = topology.numa_node(*state.device);
  hca.gid_index = state.ethernet() && !state.port->gids ? std::nullopt : steered.pick.index;
  if (!hca.gid_index) return hca;
  for (const auto& entry : known(state.port->gids)) {
    if (entry.index != *hca.gid_index || entry.gid.is_zero()) continue;
    hca.gid = entry.gid;
    if (const auto* gid = state.gids.at(entry.index); gid != nullptr && gid->netdev != nullptr)
      hca.netdev = gid->netdev->ifname;
    break;
  }
  return hca;
}

std::vector<HcaChoice> steer(const View& view, const UserSettings& user, const Topology& topology,
                             std::vector<PortState>& states, HcaResult& result) {
  std::vector<PortState*> chosen;
  std::vector<const PortState*> ports;
  std::vector<std::optional<Prefix>> subnets;
  for (auto& state : states) {
    if (!state.left()) continue;
    chosen.push_back(&state);
    ports.push_back(&state);
    const auto* best = state.gids.best();
    subnets.push_back(best != nullptr ? subnet_of(view, best->entry->gid.address()) : std::nullopt);
  }
  const auto steering = steer_gids(view.release(), user, ports, subnets);
  std::vector<HcaChoice> hcas;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (steering.ports[i].kept) {
      hcas.push_back(choice(topology, *chosen[i], steering.ports[i]));
      trace_gid_choice(chosen[i]->device->name, hcas.back(), chosen[i]->gids, result.trace);
      continue;
    }
    const auto* best = chosen[i]->gids.best();
    leave_out(*chosen[i], "gid-not-steerable",
              fmt::format("needs GID index {}, and NCCL {} cannot be brought to it together with the others",
                          best->entry->index, view.release().text()),
              result.trace);
  }
  result.env.insert(steering.env.begin(), steering.env.end());
  for (const auto& [name, value] : steering.env)
    result.trace.push_back({"", "gid-steering", name + "=" + value + " brings every chosen port to its GID"});
  return hcas;
}

void steer_list(const View& view, const UserSettings& user, const std::vector<PortState>& states, HcaResult& result) {
  const auto& devices = known(view.host().rdma);
  auto wanted = names(states);
  const auto alone = sorted_names(nccl_hcas(view.release(), devices, user.hca));
  if (wanted == alone) return;
  if (wanted.empty()) {
    if (!user.is_set("NCCL_IB_DISABLE") && !user.is_set("NCCL_IB_HCA")) {
      result.env["NCCL_IB_DISABLE"] = "1";
      result.trace.push_back(
          {"", "hca-steering", fmt::format("NCCL_IB_DISABLE=1; alone NCCL would take {}", fmt::join(alone, ", "))});
    }
    return;
  }
  if (user.is_set("NCCL_IB_HCA")) return;
  std::string list;
  for (const auto& name : wanted) list += (list.empty() ? "=" : ",") + name;
  result.env["NCCL_IB_HCA"] = list;
  result.trace.push_back(
      {"", "hca-steering", fmt::format("NCCL_IB_HCA={}; alone NCCL would take {}", list, fmt::join(alone, ", "))});
}

std::string describe(const PortState& state) {
  std::string text(state.layer);
  if (state.gbps) text += fmt::format(", {:g} Gb/s", *state.gbps);
  if (state.nearest) text += fmt::format(", {} to its nearest GPU", path_class_name(*state.nearest));
  return text;
}

// One entry per name: the best verdict of its ports; where there are several, each is named.
std::vector<DeviceVerdict> verdicts(const std::vector<PortState>& states) {
  std::vector<DeviceVerdict> found;
  for (std::size_t i = 0; i < states.size();) {
    std::size_t end = i, best = i;
    for (; end < states.size() && states[end].device == states[i].device; ++end)
      if (states[end].verdict < states[best].verdict) best = end;
    DeviceVerdict verdict{DeviceKind::hca, states[i].device->name, states[best].verdict, states[best].reason, ""};
    for (std::size_t at = i; at < end; ++at) {
      if (end - i > 1)
        verdict.detail +=
            fmt::format("{}port {} {}: ", at > i ? "; " : "", states[at].port->port, verdict_name(states[at].verdict));
      verdict.detail += states[at].detail;
    }
    found.push_back(std::move(verdict));
    i = end;
  }
  return found;
}

}  // namespace

HcaResult choose_hcas(const View& view, const Policy& policy, const UserSettings& user, const Topology& topology) {
  HcaResult result;
  std::vector<Finding> rails;
  auto states = survey_ports(view, policy, topology, result.trace);
  for (const auto& state : states) result.rdma_hardware = result.rdma_hardware || !software_rdma(*state.device);

  // Set and empty, it takes everything, and is not ours to set.
  if (user.is_set("NCCL_IB_HCA")) {
    obey_list(view, user.hca, states, result.trace);
  } else {
    filter_ports({view, policy, topology}, states, result.trace);
    rails = rail_findings({view, policy, topology}, states);
    respect_limit(view, states, result.trace);
  }
  result.filters = filter_uses({view, policy, topology}, states);
  result.hcas = steer(view, user, topology, states, result);
  steer_list(view, user, states, result);
  for (auto& state : states) {
    if (!state.left() || !state.reason.empty()) continue;
    state.reason = "best-class";
    state.detail = describe(state);
    result.trace.push_back(
        {state.device->name, state.reason, fmt::format("port {} chosen: {}", state.port->port, state.detail)});
  }
  result.devices = verdicts(states);
  result.findings = hca_state_findings(states);
  result.broken = first_broken_link(view.host(), user, states);
  if (result.hcas.empty())
    result.idle_cause = states.empty() ? "" : why_no_hca(states);
  else
    result.use_findings = hca_use_findings(view, user, states, result.hcas);
  if (!result.hcas.empty()) result.use_findings.insert(result.use_findings.end(), rails.begin(), rails.end());
  return result;
}

void leave_hcas_idle(HcaResult& result, std::string_view reason, std::string_view detail) {
  for (auto& device : result.devices) {
    if (device.verdict != Verdict::chosen) continue;
    device.verdict = Verdict::eligible;
    device.reason = reason;
    device.detail = detail;
    result.trace.push_back({device.name, device.reason, "not used: " + device.detail});
  }
  result.hcas.clear();
  result.env.clear();
  result.use_findings.clear();
  result.idle_cause = detail;
}

}  // namespace topoguard
