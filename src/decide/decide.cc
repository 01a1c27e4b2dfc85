// SPDX-License-Identifier: Apache-2.0
#include "decide/decide.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <set>
#include <utility>

#include "decide/checks.h"
#include "decide/findings.h"
#include "decide/gpus.h"
#include "decide/hcas.h"
#include "decide/interfaces.h"
#include "decide/socket_env.h"
#include "decide/sockets.h"
#include "decide/topology.h"
#include "decide/transport.h"
#include "decide/user_settings.h"
#include "decide/view.h"

namespace topoguard {
namespace {

template <typename T>
void append(std::vector<T>& list, std::vector<T> more) {
  list.insert(list.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// EFA and the like carry data by a plugin of their own, which NCCL or topoguard loads from the path.
bool other_plugin_carries(const HostSnapshot& host) {
  const auto& plugins = known(host.plugins);
  const bool plugin = std::any_of(plugins.begin(), plugins.end(), [](const Plugin& p) { return p.kind == "net"; });
  const auto& devices = known(host.rdma);
  return plugin && std::any_of(devices.begin(), devices.end(), [](const RdmaDevice& device) {
           return device.driver == "efa" && device.usable.value_or(true);
         });
}

bool interfaces_left(const View& view, const UserSettings& user, const Interfaces& interfaces) {
  if (!view.host().links) return true;  // unknown is not none
  if (user.ifname) return !replay_sockets(view, user, {}).data.empty();
  // NCCL passes over ::1 (misc/socket.cc findInterfaces).
  return std::any_of(interfaces.pool.begin(), interfaces.pool.end(), [](const InterfaceState* state) {
    return state->address->family() != Family::inet6 || !state->address->local.is_loopback();
  });
}

void check_transport(const View& view, const Policy& policy, const TransportChoice& transport, const HcaResult& hcas,
                     Decision& decision) {
  // Of many HCAs the one that comes farthest is named, then how it stands with all.
  const auto why = [&] {
    if (!hcas.broken) return transport.why;
    const bool more = hcas.devices.size() > 1 && transport.rule != "user-off";
    return hcas.broken->message + (more ? " (of all HCA ports: " + transport.why + ")" : "");
  };
  const bool idle = hcas.rdma_hardware && !other_plugin_carries(view.host());
  if (decision.transport == Transport::socket && idle) {
    decision.findings.push_back(make_finding("slow-fallback", hcas.broken ? hcas.broken->device : "",
                                             "this host has RDMA hardware, and the data goes over TCP: " + why(),
                                             hcas.broken ? hcas.broken->remedy : ""));
    decision.fallback = hcas.broken ? hcas.broken->id : "unknown";
  }
  if (policy.require_ib && decision.transport != Transport::ib)
    decision.findings.push_back(
        make_finding("require-ib-unmet", "", "TOPOGUARD_REQUIRE=IB: " + why(), hcas.broken ? hcas.broken->remedy : ""));
}

void list_devices(Interfaces& interfaces, HcaResult& hcas, Decision& decision) {
  std::set<std::string> seen;
  for (auto& state : interfaces.all)
    if (seen.insert(state.verdict.name).second) decision.devices.push_back(std::move(state.verdict));
  append(decision.devices, std::move(hcas.devices));
}

Decision decide_unguarded(const HostSnapshot& host, const Policy& policy) {
  const View view(host);
  const auto user = read_user_settings(view);
  const Topology topology(host);
  Decision decision;

  auto interfaces = judge_interfaces(view, policy, user);
  auto hcas = choose_hcas(view, policy, user, topology);
  const auto transport = choose_transport(user, hcas, interfaces_left(view, user, interfaces));
  decision.transport = transport.transport;
  if (decision.transport != Transport::ib && !hcas.hcas.empty())
    leave_hcas_idle(hcas, "socket-transport", transport.why);

  // Where NCCL will find no network the bootstrap's interface is still worth naming.
  const auto scope = decision.transport == Transport::socket ? Transport::socket : Transport::ib;
  decision.socket = choose_sockets(view, user, scope, interfaces);
  const auto steering = steer_sockets(view, user, scope, decision.socket);
  auto gpus = choose_gpus(host, topology, hcas.hcas);

  if (decision.transport != Transport::none) {
    if (!user.rdma_off()) decision.env = hcas.env;
    decision.env.insert(steering.env.begin(), steering.env.end());
  }
  for (const auto& [name, value] : user.nccl) decision.env.erase(name);

  decision.hcas = std::move(hcas.hcas);
  append(decision.findings, check_variables(view, user));
  append(decision.findings, check_filters(policy, user, interfaces.filters, hcas.filters, decision));
  append(decision.findings, check_stops(view, user, transport));
  append(decision.findings, check_sockets(view, user, interfaces, decision.socket, steering));
  if (decision.transport == Transport::socket)
    append(decision.findings, check_speed(view, user, interfaces, decision.socket));
  append(decision.findings, std::move(hcas.findings));
  append(decision.findings, std::move(hcas.use_findings));
  check_transport(view, policy, transport, hcas, decision);
  append(decision.findings, std::move(gpus.findings));
  append(decision.findings, check_host(view, user));
  append(decision.findings, std::vector<Finding>(policy.problems));
  std::stable_sort(decision.findings.begin(), decision.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity < b.severity; });

  decision.gpus = std::move(gpus.gpus);
  append(decision.trace, std::move(interfaces.trace));
  append(decision.trace, std::move(hcas.trace));
  append(decision.trace, std::move(gpus.trace));
  decision.trace.push_back(
      {"", "transport-" + transport.rule, std::string(transport_name(decision.transport)) + ": " + transport.why});
  for (const auto& [name, value] : steering.env)
    decision.trace.push_back({"", "socket-steering", name + "=" + value + " brings NCCL to the chosen interfaces"});
  list_devices(interfaces, hcas, decision);
  return decision;
}

Decision undecided(const char* what) {
  Decision decision;
  decision.findings.push_back(make_finding("internal-error", "", std::string("no decision: ") + what));
  return decision;
}

}  // namespace

Decision decide(const HostSnapshot& host, const Policy& policy) {
  try {
    return decide_unguarded(host, policy);
  } catch (const std::exception& error) {
    return undecided(error.what());
  } catch (...) {
    return undecided("unknown failure");
  }
}

}  // namespace topoguard
