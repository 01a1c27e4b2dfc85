// SPDX-License-Identifier: Apache-2.0
// Which HCAs carry the data, with which port and GID, and what NCCL must be told so that it takes just these.
// Host facts and host-wide settings only: nothing here depends on the rank, its GPU or its CPUs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decide/fallback.h"
#include "decide/filter_use.h"
#include "decide/topology.h"
#include "decide/user_settings.h"
#include "decide/view.h"
#include "topoguard/decision.h"
#include "topoguard/policy.h"

namespace topoguard {

struct HcaResult {
  std::vector<HcaChoice> hcas;             ///< chosen, in the order in which NCCL numbers them; empty: no RDMA
  std::vector<DeviceVerdict> devices;      ///< one per HCA name, in the snapshot's order
  std::map<std::string, std::string> env;  ///< NCCL_IB_*: what must be set so that NCCL arrives at `hcas`
  std::vector<Finding> findings;           ///< true whatever the transport: port-down, gid-missing, hca-unusable, ...
  std::vector<Finding> use_findings;       ///< only where the transport is IB: gid-pin-stale, mixed-link-layer, ...
  std::vector<RuleMatch> trace;
  bool rdma_hardware = false;  ///< a hardware RDMA device is listed, whatever its state
  std::string idle_cause;      ///< why `hcas` is empty though hardware is there; "" else
  FilterUses filters;
  std::optional<BrokenLink> broken;  ///< the first reason of that, where there is hardware
};

HcaResult choose_hcas(const View& view, const Policy& policy, const UserSettings& user, const Topology& topology);

/// The data goes another way (NCCL_NET=Socket, NCCL_IB_DISABLE=1, ...): chosen HCAs become eligible with this reason,
/// nothing is set, `use_findings` no longer apply, and `idle_cause` is the detail.
void leave_hcas_idle(HcaResult& result, std::string_view reason, std::string_view detail);

}  // namespace topoguard
