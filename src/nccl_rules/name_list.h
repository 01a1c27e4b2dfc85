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
  std::vector<Entry> entries;  ///< in order; entries past the limit are dropped, as NCCL drops them
  bool dropped = false;        ///< there were more

  /// `limit`: NCCL's array, 16 for interfaces (MAX_IFS), NcclRelease::max_hcas() for HCAs.
  static NameList parse(std::string_view text, std::size_t limit = 16);

  /// An empty list lists everything, also after ^: NCCL then takes nothing.
  bool lists(std::string_view name, int port = -1) const;
  /// The device is one that NCCL takes: listed, or not listed with ^. port -1 agrees with every entry's port.
  bool takes(std::string_view name, int port = -1) const { return lists(name, port) != exclude; }
  bool entry_matches(const Entry& entry, std::string_view name, int port = -1) const;
};

}  // namespace topoguard
