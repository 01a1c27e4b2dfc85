// SPDX-License-Identifier: Apache-2.0
// NCCL releases as numbers, and what changed in which. Facts: NCCL's own sources at the tags named in each comment.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace topoguard {

struct NcclRelease {
  int major = 2;
  int minor = 30;
  int patch = 7;

  constexpr auto operator<=>(const NcclRelease&) const = default;

  /// "2.28.9", "2.28.9+cuda13.0", "2.19.3-1", "v2.18", "22809" (ncclGetVersion). nullopt where it is none of these.
  static std::optional<NcclRelease> parse(std::string_view text);
  std::string text() const;

  constexpr bool at_least(int minor_wanted, int patch_wanted = 0) const {
    return *this >= NcclRelease{2, minor_wanted, patch_wanted};
  }

  // Interfaces: misc/socket.cc, from 2.29 os/linux.cc
  constexpr bool needs_running() const { return at_least(28); }  ///< IFF_RUNNING is asked for (first seen at 2.28.3)
  constexpr bool skips_virbr() const { return at_least(28); }    ///< libvirt's bridges are left out by name
  constexpr bool subnet_match_inverted() const {                 ///< NCCL_COMM_ID takes the other IPv4 subnets
    return at_least(29) && *this <= NcclRelease{2, 29, 7};
  }
  // Devices and GIDs: transport/net_ib.cc, from 2.28 transport/net_ib/
  constexpr bool searches_gid() const { return at_least(21); }
  constexpr bool sorts_hcas_by_pci() const { return at_least(29, 7); }
  constexpr int max_hcas() const { return at_least(18, 5) ? 32 : 16; }  ///< MAX_IB_DEVS
  // Plugins: plugin/net.cc
  constexpr bool empty_plugin_is_none() const { return at_least(27, 3); }  ///< NCCL_NET_PLUGIN="": no external plugin
};

/// The newest release whose rules this source knows; assumed where the snapshot names none.
inline constexpr NcclRelease kNewestNccl{2, 30, 7};
inline constexpr NcclRelease kOldestNccl{2, 18, 1};

}  // namespace topoguard
