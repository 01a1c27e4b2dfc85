// SPDX-License-Identifier: Apache-2.0
// Which GID index NCCL takes on one RDMA port, release by release. Sources: transport/net_ib.cc of 2.18 to 2.27,
// transport/net_ib/{init,connect}.cc of 2.28 to 2.30 (ncclIbGetGidIndex, ncclUpdateGidIndex).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nccl_rules/release.h"
#include "topoguard/snapshot.h"

namespace topoguard {

/// The NCCL_IB_* variables that the search reads, after NCCL's own parsing.
struct GidSettings {
  std::optional<int> index;      ///< NCCL_IB_GID_INDEX; empty where unset, empty or negative
  Family family = Family::inet;  ///< NCCL_IB_ADDR_FAMILY
  std::optional<Prefix> range;   ///< NCCL_IB_ADDR_RANGE; empty = every address
  int roce_version = 2;          ///< NCCL_IB_ROCE_VERSION_NUM
  int flid_index = 1;            ///< NCCL_IB_ROUTABLE_FLID_GID_INDEX

  /// `find` gives a variable's value, nullptr where it is unset. Values that NCCL cannot read count as unset, as with
  /// NCCL (a range that is no address of the family, a range without "/" up to 2.22).
  static GidSettings read(const NcclRelease& release, const std::function<const std::string*(std::string_view)>& find);
};

struct GidPick {
  std::optional<int> index;  ///< empty on InfiniBand where NCCL goes by LID
  bool fails = false;        ///< the search reads a type that cannot be read, and this release then gives up
};

/// `link_layer` "InfiniBand" or "Ethernet". The table is the port's; entries that are not listed are empty ones.
GidPick nccl_gid(const NcclRelease& release, std::string_view link_layer, const std::vector<GidEntry>& table,
                 const GidSettings& settings);

/// RoCE version of a GID type as sysfs writes it: 2 for "RoCE v2", 1 for "IB/RoCE v1", empty where unreadable.
std::optional<int> roce_version(const GidEntry& entry);

/// NCCL counts a GID as IPv4 where it is ::ffff:a.b.c.d or the multicast form ff0e::ffff:a.b.c.d.
Family nccl_gid_family(const Gid& gid);

}  // namespace topoguard
