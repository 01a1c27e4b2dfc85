// SPDX-License-Identifier: Apache-2.0
#include "decide/hca_ports.h"

#include <algorithm>
#include <cctype>

#include "decide/gid_trace.h"
#include "nccl_rules/hcas.h"

namespace topoguard {

namespace {

bool driver_is(const RdmaDevice& device, std::string_view name) { return device.driver && *device.driver == name; }

// iWARP runs over TCP with a connection manager that NCCL does not use. A driver that lists an RNIC may all the same
// offer RoCE (irdma, erdma in compatibility mode): then the table has entries of a RoCE kind. iWARP's own entry is a
// MAC address padded with zeros, and names no netdev.
bool iwarp(const PortState& state) {
  if (!state.device->node_type || *state.device->node_type != "RNIC") return false;
  if (state.port == nullptr || !state.port->gids) return true;
  return std::none_of(state.port->gids->begin(), state.port->gids->end(), [](const GidEntry& entry) {
    return !entry.gid.is_zero() && ((entry.type && *entry.type == "RoCE v2") || entry.gid.is_ipv4_mapped());
  });
}

std::string state_text(const RdmaPort& port) {
  return port.state.value_or("unknown") + (port.phys_state ? "/" + *port.phys_state : "");
}

bool not_active(const PortState& state) { return state.port->state && *state.port->state != "ACTIVE"; }

std::optional<double> rate(const View& view, const RdmaPort& port) {
  if (port.rate_gbps && *port.rate_gbps > 0) return port.rate_gbps;
  const auto* link = port.netdev ? view.link(*port.netdev) : nullptr;
  if (link == nullptr) return std::nullopt;
  const auto mbps = view.speed_mbps(*link);
  if (!mbps || *mbps <= 0) return std::nullopt;
  return static_cast<double>(*mbps) / 1000;
}

}  // namespace

bool software_rdma(const RdmaDevice& device) {
  if (device.pci && !device.pci->empty()) return false;
  return driver_is(device, "rdma_rxe") || driver_is(device, "rxe") || driver_is(device, "siw");
}

bool own_plugin(const RdmaDevice& device) {
  if (driver_is(device, "efa")) return true;
  // RDMA_NODE_UNSPECIFIED: only EFA registers so in the kernel. A port with a link layer NCCL knows says otherwise.
  return device.node_type && *device.node_type == "unspecified" &&
         std::all_of(device.ports.begin(), device.ports.end(), [](const RdmaPort& p) { return link_layer(p).empty(); });
}

const std::vector<StateRow>& hca_state_rows() {
  static const std::vector<StateRow> rows{
      {"own-plugin", "07-eks-pod-identity-link", [](const View&, const PortState& s) { return own_plugin(*s.device); },
       [](const View&, const PortState&) {
         return std::string("not for NCCL's own transport; its vendor's net plugin uses it");
       }},
      {"iwarp", "irdma and siw hosts", [](const View&, const PortState& s) { return iwarp(s); },
       [](const View&, const PortState&) { return std::string("iWARP without any RoCE GID; NCCL speaks RoCE only"); }},
      {"unopenable", "26a-hca-not-openable, 91-no-uverbs-in-container",
       [](const View&, const PortState& s) { return s.device->usable && !*s.device->usable; },
       [](const View&, const PortState&) { return std::string("its verbs device cannot be opened by this process"); }},
      {"no-port", "truncated records", [](const View&, const PortState& s) { return s.port == nullptr; },
       [](const View&, const PortState&) { return std::string("lists no port"); }},
      {"subnet-manager-missing", "92-port-in-init",
       [](const View&, const PortState& s) {
         return s.layer == "InfiniBand" && s.port->state && *s.port->state == "INIT" &&
                s.port->phys_state.value_or("LinkUp") == "LinkUp";
       },
       [](const View&, const PortState&) {
         return std::string("has its link and waits in INIT for a subnet manager");
       }},
      {"port-down", "18 and 94: ports without a cable", [](const View&, const PortState& s) { return not_active(s); },
       [](const View&, const PortState& s) { return "is " + state_text(*s.port) + ", not ACTIVE"; }},
      {"link-layer-unknown", "usNIC and records without one",
       [](const View&, const PortState& s) { return s.layer.empty(); },
       [](const View&, const PortState&) { return std::string("is neither InfiniBand nor Ethernet"); }},
      {"gid-missing", "90-pf-without-gid-vf-with",
       [](const View&, const PortState& s) { return s.ethernet() && s.port->gids && s.gids.usable.empty(); },
       [](const View&, const PortState& s) { return "has no usable GID here: " + s.gids.problem; }},
  };
  return rows;
}

std::string PortState::name() const { return device->name + ":" + std::to_string(port != nullptr ? port->port : 1); }

bool natural_less(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      std::size_t end_i = i, end_j = j;
      while (end_i < a.size() && digit(a[end_i])) ++end_i;
      while (end_j < b.size() && digit(b[end_j])) ++end_j;
      auto number_a = a.substr(i, end_i - i), number_b = b.substr(j, end_j - j);
      while (number_a.size() > 1 && number_a.front() == '0') number_a.remove_prefix(1);
      while (number_b.size() > 1 && number_b.front() == '0') number_b.remove_prefix(1);
      if (number_a.size() != number_b.size()) return number_a.size() < number_b.size();
      if (number_a != number_b) return number_a < number_b;
      i = end_i;
      j = end_j;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  if ((a.size() - i) != (b.size() - j)) return a.size() - i < b.size() - j;
  return a < b;  // equal but for leading zeros
}

std::vector<PortState> survey_ports(const View& view, const Policy& policy, const Topology& topology,
                                    std::vector<RuleMatch>& trace) {
  std::vector<const RdmaDevice*> devices;
  for (const auto& device : known(view.host().rdma)) devices.push_back(&device);
  std::stable_sort(devices.begin(), devices.end(), [](const RdmaDevice* a, const RdmaDevice* b) {
    if (a->name != b->name) return natural_less(a->name, b->name);
    return a->pci.value_or("") < b->pci.value_or("");
  });
  devices.erase(std::unique(devices.begin(), devices.end(),
                            [](const RdmaDevice* a, const RdmaDevice* b) { return a->name == b->name; }),
                devices.end());

  std::vector<PortState> states;
  for (const auto* device : devices) {
    const auto nearest = topology.nearest(*device);
    auto ports = std::vector<const RdmaPort*>();
    for (const auto& port : device->ports) ports.push_back(&port);
    std::stable_sort(ports.begin(), ports.end(), [](const auto* a, const auto* b) { return a->port < b->port; });
    if (ports.empty()) ports.push_back(nullptr);
    for (const auto* port : ports) {
      PortState state;
      state.device = device;
      state.port = port;
      state.nearest = nearest;
      if (port != nullptr) {
        state.layer = link_layer(*port);
        state.gbps = rate(view, *port);
        if (state.ethernet()) state.gids = usable_gids(view, policy, *port);
      }
      if (state.ethernet()) trace_gids(device->name, *port, state.gids, trace);
      for (const auto& row : hca_state_rows()) {
        if (!row.applies(view, state)) continue;
        state.verdict = Verdict::rejected;
        state.reason = row.reason;
        state.detail = row.detail(view, state);
        trace.push_back({device->name, state.reason,
                         "port " + std::to_string(port != nullptr ? port->port : 1) + " rejected: " + state.detail});
        break;
      }
      if (state.left())
        trace.push_back({device->name, "port-usable",
                         "port " + std::to_string(port->port) + ": " + std::string(state.layer) + ", " +
                             state_text(*port) + ", nothing speaks against it by itself"});
      states.push_back(std::move(state));
    }
  }
  return states;
}

}  // namespace topoguard
