// SPDX-License-Identifier: Apache-2.0
// The NCCL_* variables that are the user's own, as NCCL reads them. What topoguard itself published earlier
// (TOPOGUARD_APPLIED lists it) is not the user's and is left out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "decide/view.h"
#include "nccl_rules/interfaces.h"
#include "nccl_rules/name_list.h"

namespace topoguard {

struct UserSettings {
  std::map<std::string, std::string, std::less<>> nccl;  ///< every NCCL_* name, "" = set but empty

  std::optional<NameList> ifname;  ///< NCCL_SOCKET_IFNAME; empty where unset or too short for NCCL to look at
  std::optional<NameList> hca;     ///< NCCL_IB_HCA; empty where unset or ""
  std::optional<Family> family;    ///< NCCL_SOCKET_FAMILY
  std::string rdma_off_by;         ///< the user's setting that keeps NCCL from InfiniBand and RoCE: "NCCL_NET=Socket"
  std::string
      no_network;  ///< the user's setting by which NCCL finds no network at all: "NCCL_NET=" (empty), "NCCL_NET=mlx5"

  bool rdma_off() const { return !rdma_off_by.empty() || !no_network.empty(); }
  bool is_set(std::string_view name) const { return nccl.find(name) != nccl.end(); }
  const std::string* find(std::string_view name) const;  ///< nullptr where unset
  FindVariable finder() const;                           ///< find() for nccl_rules; valid as long as this object
  /// NCCL_PARAM (misc/param.cc): strtoll, base 0; empty or out of range = unset; no digits = 0.
  std::optional<std::int64_t> number(std::string_view name) const;
};

UserSettings read_user_settings(const View& view);

/// NCCL compares network names without regard to case (plugin/net.cc, strcasecmp).
bool same_network_name(std::string_view a, std::string_view b);

/// The plugin of that name or path is topoguard's own.
bool is_our_plugin(std::string_view plugin);

/// NCCL_NET names somebody else's network ("AWS Libfabric"), and no plugin that could bring it is in sight: NCCL ends
/// the job, with topoguard or without.
bool network_is_missing(const View& view, const UserSettings& user);

}  // namespace topoguard
