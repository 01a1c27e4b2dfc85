// SPDX-License-Identifier: Apache-2.0
// The device lists of NCCL_SOCKET_IFNAME and NCCL_IB_HCA as NCCL reads them: an optional ^ (all but these), then an
// optional = (whole names, else prefixes), then names with an optional :port, separated by commas.
// Source: misc/utils.cc parseStringList and matchIfList, 2.18 to 2.30.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace topoguard {

struct NameList {
  struct Entry {
    std::string name;
    int port = -1;  ///< -1 = any
  };

  bool exclude = false;
  bool exact = false;
  std::vector<Entry> entries;  ///< at most 32; NCCL drops the rest

  /// With ports: "mlx5_0:1". Without, a colon belongs to the name (NCCL_SOCKET_IFNAME takes the same parser: a port
  /// there is parsed and never compared).
  static NameList parse(std::string_view text);

  /// The device is in the list, before ^ is looked at. port -1 matches every entry's port.
  bool lists(std::string_view name, int port = -1) const;
  /// The device is one that NCCL takes: listed, or not listed with ^.
  bool takes(std::string_view name, int port = -1) const { return lists(name, port) != exclude; }
  bool entry_matches(const Entry& entry, std::string_view name, int port = -1) const;
};

}  // namespace topoguard
