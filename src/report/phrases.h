// SPDX-License-Identifier: Apache-2.0
// Phrases that the log block and the doctor share.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "document/layout.h"
#include "topoguard/decision.h"
#include "topoguard/policy.h"
#include "topoguard/snapshot.h"

namespace topoguard {

/// "the net plugin", "LD_PRELOAD", ...
std::string front_end_phrase(std::string_view front_end);
/// "observe (from the environment)", "enforce (default)"
std::string mode_phrase(const Policy& policy);
/// "IB over mlx5_0:1, mlx5_1:1; bootstrap on eth0 (10.0.0.11)"; of long device lists what fits in limit bytes, then
/// "and 5 more".
std::string transport_phrase(const Decision& decision, std::size_t limit);
/// "eth0 (10.0.0.11)"
std::string interface_phrase(const SocketChoice& socket, const std::string& ifname);
/// Where the decision sets no variable: "nothing: NCCL takes these by itself", or why else.
std::string sets_nothing_phrase(const HostSnapshot& host, const Decision& decision);
/// "NCCL_SOCKET_IFNAME==eth1 NCCL_IB_GID_INDEX=3"
std::string variables_phrase(const std::map<std::string, std::string>& variables);
Paint paint_of(Verdict verdict);
/// "mlx5_0:1"
std::string hca_phrase(const HcaChoice& hca);

}  // namespace topoguard
