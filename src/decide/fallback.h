// SPDX-License-Identifier: Apache-2.0
// Why a host with RDMA hardware does not use it: the first broken link of the chain that leads from the user's settings
// over library, device, port and address to NCCL. Of several devices, the one that comes farthest counts: curing it is
// enough.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decide/hca_ports.h"
#include "decide/user_settings.h"
#include "topoguard/policy.h"

namespace topoguard {

struct BrokenLink {
  std::string id;       ///< stable: user-setting, own-plugin, unopenable, port-down, ...
  std::string device;   ///< the HCA; "" where all are concerned
  std::string message;  ///< a clause: "mlx5_0 cannot be opened by this process (...)"
  std::string remedy;
};

struct LinkRow {
  std::string_view id;  ///< of a device: its reason
  std::string_view remedy;
  std::string_view taught_by;
};

/// From the first link to the last.
const std::vector<LinkRow>& fallback_rows();

/// nullopt where no hardware device is listed, or one of them is left and no setting keeps NCCL from it.
std::optional<BrokenLink> first_broken_link(const HostSnapshot& host, const UserSettings& user,
                                            const std::vector<PortState>& states);

}  // namespace topoguard
