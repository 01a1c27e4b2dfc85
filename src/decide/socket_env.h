// SPDX-License-Identifier: Apache-2.0
// What must be published so that NCCL takes the chosen interfaces: nothing where it would take them anyway, and never
// anything that the user has set. Proven by replaying NCCL's own search with it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "decide/user_settings.h"
#include "decide/view.h"
#include "nccl_rules/interfaces.h"
#include "topoguard/decision.h"

namespace topoguard {

struct SocketReplay {
  std::vector<NcclInterface> data;  ///< what the Socket transport takes; the InfiniBand side channel takes the first
  BootstrapPick bootstrap;
};

/// NCCL's search with the user's variables and `published` on top.
SocketReplay replay_sockets(const View& view, const UserSettings& user,
                            const std::map<std::string, std::string>& published);

struct SocketSteering {
  std::map<std::string, std::string> env;
  bool names_agree = true;      ///< NCCL ends on the chosen interfaces
  bool addresses_agree = true;  ///< and on the addresses meant
  SocketReplay replay;          ///< with env
  SocketReplay nearest;         ///< with the best that could be published, published or not
};

SocketSteering steer_sockets(const View& view, const UserSettings& user, Transport transport,
                             const SocketChoice& choice);

}  // namespace topoguard
