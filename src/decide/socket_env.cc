// SPDX-License-Identifier: Apache-2.0
#include "decide/socket_env.h"

#include <algorithm>

namespace topoguard {
namespace {

using Variables = std::map<std::string, std::string>;

struct Agreement {
  bool names = false;
  bool addresses = false;
  bool families = true;
  bool on_loopback = false;  ///< NCCL would take a loopback address where another is meant

  static constexpr int kWrongNames = 3;
  int score() const { return !names ? kWrongNames : !families ? 2 : !addresses ? 1 : 0; }
};

Agreement compare(const SocketReplay& replay, Transport transport, const SocketChoice& choice, bool comm_id) {
  auto taken = replay.data;
  if (transport != Transport::socket && taken.size() > 1) taken.resize(1);
  Agreement agreement;
  agreement.names = taken.size() == choice.ifnames.size();
  agreement.addresses = true;
  for (const auto& interface : taken) {
    const auto meant = choice.addresses.find(interface.device);
    if (meant == choice.addresses.end()) {
      agreement.names = false;
      continue;
    }
    if (meant->second == interface.address) continue;
    agreement.addresses = false;
    if (meant->second.family != interface.address.family) agreement.families = false;
    if (interface.address.is_loopback()) agreement.on_loopback = true;
  }
  // NCCL_COMM_ID fixes the bootstrap whatever we publish, so it cannot tell the ways apart.
  if (!comm_id && (!replay.bootstrap.interface || replay.bootstrap.interface->device != choice.ifnames.front()))
    agreement.names = false;
  return agreement;
}

std::vector<Variables> options(const UserSettings& user, const SocketChoice& choice) {
  const bool names_free = !user.is_set("NCCL_SOCKET_IFNAME") || !user.ifname;
  const bool family_free = !user.is_set("NCCL_SOCKET_FAMILY");
  std::string list;
  for (const auto& name : choice.ifnames) list += (list.empty() ? "=" : ",") + name;
  const std::string family(nccl_family_name(choice.family.value_or(Family::inet)));
  std::vector<Variables> result{{}};
  const bool may_name = names_free && !user.is_set("NCCL_SOCKET_IFNAME");
  if (may_name) result.push_back({{"NCCL_SOCKET_IFNAME", list}});
  if (family_free) result.push_back({{"NCCL_SOCKET_FAMILY", family}});
  if (may_name && family_free) result.push_back({{"NCCL_SOCKET_IFNAME", list}, {"NCCL_SOCKET_FAMILY", family}});
  // An address under an alias label ("eth0:1") has no whole name that a list could spell; the device's is its prefix.
  if (may_name) result.push_back({{"NCCL_SOCKET_IFNAME", list.substr(1)}});
  return result;
}

}  // namespace

SocketReplay replay_sockets(const View& view, const UserSettings& user, const Variables& published) {
  const auto addresses = getifaddrs_order(known(view.host().links), view.host().system.kernel);
  const FindVariable find = [&](std::string_view name) -> const std::string* {
    if (const auto* own = user.find(name)) return own;
    const auto at = published.find(std::string(name));
    return at == published.end() ? nullptr : &at->second;
  };
  return {nccl_interfaces(view.release(), addresses, find), nccl_bootstrap(view.release(), addresses, find)};
}

SocketSteering steer_sockets(const View& view, const UserSettings& user, Transport transport,
                             const SocketChoice& choice) {
  SocketSteering steering;
  if (choice.ifnames.empty()) return steering;
  const bool comm_id = user.is_set("NCCL_COMM_ID");
  int best = Agreement::kWrongNames + 1;
  bool on_loopback = false;
  for (auto& variables : options(user, choice)) {
    auto replay = replay_sockets(view, user, variables);
    const auto agreement = compare(replay, transport, choice, comm_id);
    if (agreement.score() >= best) continue;
    best = agreement.score();
    on_loopback = agreement.on_loopback;
    steering = {std::move(variables), agreement.names, agreement.names && agreement.addresses, replay, replay};
    if (best == 0) break;
  }
  // Publishing a name that leads to 127.0.0.1, or one that changes nothing for the better, is worse than stock.
  if (on_loopback || best == Agreement::kWrongNames) {
    steering.env.clear();
    steering.replay = replay_sockets(view, user, {});
  }
  return steering;
}

}  // namespace topoguard
