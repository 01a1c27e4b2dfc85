// SPDX-License-Identifier: Apache-2.0
// What NCCL must be told so that each chosen RoCE port ends on its right GID, found by replaying NCCL's own search
// (src/nccl_rules/gid_search.h) for every setting that could help, fewest variables first. Where nothing needs to be
// told, nothing is.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "decide/hca_ports.h"
#include "decide/user_settings.h"
#include "nccl_rules/gid_search.h"

namespace topoguard {

/// How good what NCCL arrives at is, for one port.
enum class GidFit : std::uint8_t {
  right,     ///< the port's best GID
  as_good,   ///< another one that works as well: not link-local, no older RoCE version
  inferior,  ///< usable, though a better one is there
  wrong,     ///< not usable, or the connection fails
};

struct SteeredPort {
  GidPick pick;
  GidFit fit = GidFit::right;
  bool kept = true;  ///< false: this release cannot be brought to a GID on it that works, and others go on without it
};

struct GidSteering {
  std::map<std::string, std::string> env;
  std::vector<SteeredPort> ports;  ///< as the argument
};

/// `ports`: the chosen ones, in any order; ports that are InfiniBand or whose table is unknown need nothing. What the
/// user set stays: those variables are not in `env`, nor is an index that would overrule them; with any of them set, or
/// NCCL_IB_HCA, no port is left out.
GidSteering steer_gids(const NcclRelease& release, const UserSettings& user, const std::vector<const PortState*>& ports,
                       const std::vector<std::optional<Prefix>>& subnets);

}  // namespace topoguard
