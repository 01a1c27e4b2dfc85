// SPDX-License-Identifier: Apache-2.0
// Every RDMA port of the host with what is known of it, and the first half of the rules: whether it can carry data at
// all, by its own state. A port that fails here is rejected; src/decide/hca_filters.h compares those that are left.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decide/gids.h"
#include "decide/topology.h"
#include "decide/view.h"
#include "topoguard/decision.h"
#include "topoguard/policy.h"

namespace topoguard {

struct PortState {
  const RdmaDevice* device = nullptr;
  const RdmaPort* port = nullptr;  ///< nullptr: the device lists no port
  std::string_view layer;          ///< "InfiniBand", "Ethernet" or ""
  std::optional<double> gbps;      ///< the port's rate, else its netdev's speed
  std::optional<PathClass> nearest;
  PortGids gids;  ///< Ethernet only

  Verdict verdict = Verdict::chosen;  ///< what the rules so far say
  std::string reason;
  std::string detail;

  bool left() const { return verdict == Verdict::chosen; }
  bool ethernet() const { return layer == "Ethernet"; }
  std::string name() const;  ///< "mlx5_0:1"
};

struct StateRow {
  std::string_view reason;
  std::string_view taught_by;
  bool (*applies)(const View&, const PortState&);
  std::string (*detail)(const View&, const PortState&);
};

/// The rows, first match wins.
const std::vector<StateRow>& hca_state_rows();

/// "mlx5_2" before "mlx5_10": digits compare as numbers.
bool natural_less(std::string_view a, std::string_view b);

/// All ports, devices in natural order of their names, a name that occurs twice once only; verdicts by the state rows,
/// each match appended to `trace`.
std::vector<PortState> survey_ports(const View& view, const Policy& policy, const Topology& topology,
                                    std::vector<RuleMatch>& trace);

/// Software RDMA over an ordinary netdev (Soft-RoCE, Soft-iWARP): it has no PCI device, and is no RDMA hardware.
bool software_rdma(const RdmaDevice& device);
/// Amazon's EFA and its like: verbs devices without InfiniBand or Ethernet semantics, for a plugin of their own.
bool own_plugin(const RdmaDevice& device);

}  // namespace topoguard
