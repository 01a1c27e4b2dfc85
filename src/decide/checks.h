// SPDX-License-Identifier: Apache-2.0
// Findings that follow from the user's variables, the interfaces and the process, each in its own file. All depend on
// host-wide facts only, but for shm and plugins, which describe where this process runs.
#pragma once

#include <vector>

#include "decide/interfaces.h"
#include "decide/socket_env.h"
#include "decide/user_settings.h"
#include "decide/view.h"
#include "topoguard/decision.h"

namespace topoguard {

/// env-prefix-match, env-no-match, env-empty-value, env-syntax, env-unknown, env-loopback-reenabled.
std::vector<Finding> check_variables(const View& view, const UserSettings& user);

/// link-local-only, virtual-only, loopback-only, duplicate-subnet, peer-unreachable, address-not-steerable,
/// bootstrap-not-covered, comm-id-fixed.
std::vector<Finding> check_sockets(const View& view, const UserSettings& user, Interfaces& interfaces,
                                   const SocketChoice& choice, const SocketSteering& steering);

/// p2p-disabled, shm-small, plugin-shadowed, plugin-bypassed.
std::vector<Finding> check_host(const View& view, const UserSettings& user);

}  // namespace topoguard
