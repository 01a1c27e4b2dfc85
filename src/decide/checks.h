// SPDX-License-Identifier: Apache-2.0
// Findings that follow from the user's variables, the interfaces and the process, each in its own file. All depend on
// host-wide facts only, but for shm and plugins, which describe where this process runs.
#pragma once

#include <vector>

#include "decide/interfaces.h"
#include "decide/socket_env.h"
#include "decide/transport.h"
#include "decide/user_settings.h"
#include "decide/view.h"
#include "topoguard/decision.h"

namespace topoguard {

/// env-prefix-match, env-no-match, env-empty-value, env-syntax, env-unknown, env-loopback-reenabled.
std::vector<Finding> check_variables(const View& view, const UserSettings& user);

/// interfaces-unknown, link-local-only, virtual-only, loopback-only, duplicate-subnet, peer-unreachable,
/// address-not-steerable, bootstrap-not-covered, comm-id-fixed.
std::vector<Finding> check_sockets(const View& view, const UserSettings& user, Interfaces& interfaces,
                                   const SocketChoice& choice, const SocketSteering& steering);

/// faster-without-route: for data over TCP.
std::vector<Finding> check_speed(const View& view, const UserSettings& user, const Interfaces& interfaces,
                                 const SocketChoice& choice);

/// What ends NCCL with an error: no-interface, network-unusable, comm-id-no-interface, env-syntax of NCCL_COMM_ID. All
/// are errors, and each names the setting where one is to blame.
std::vector<Finding> check_stops(const View& view, const UserSettings& user, const TransportChoice& transport);

/// filter-no-match, filter-ignored: a filter of the operator's that could not be followed. `decision` has its devices.
std::vector<Finding> check_filters(const Policy& policy, const UserSettings& user, const FilterUses& interfaces,
                                   const FilterUses& hcas, const Decision& decision);

/// p2p-disabled, shm-small, plugin-shadowed, plugin-bypassed, base-network-missing.
std::vector<Finding> check_host(const View& view, const UserSettings& user);

}  // namespace topoguard
