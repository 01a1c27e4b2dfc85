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
#include "nccl_rules/name_list.h"

namespace topoguard {

struct UserSettings {
  std::map<std::string, std::string, std::less<>> nccl;  ///< every NCCL_* name, "" = set but empty

  std::optional<NameList> ifname;  ///< NCCL_SOCKET_IFNAME; empty where unset or too short for NCCL to look at
  std::optional<NameList> hca;     ///< NCCL_IB_HCA; empty where unset or ""
  std::optional<Family> family;    ///< NCCL_SOCKET_FAMILY
  bool ib_disabled = false;        ///< NCCL_IB_DISABLE is not 0

  bool is_set(std::string_view name) const { return nccl.find(name) != nccl.end(); }
  const std::string* find(std::string_view name) const;  ///< nullptr where unset
  /// NCCL_PARAM (misc/param.cc): strtoll, base 0; empty or out of range = unset; no digits = 0.
  std::optional<std::int64_t> number(std::string_view name) const;
};

UserSettings read_user_settings(const View& view);

}  // namespace topoguard
