// SPDX-License-Identifier: Apache-2.0
// The second half of the HCA rules: of the ports that can carry data, which belong together. Each row names ports that
// are left out beside better ones; a row that would leave nothing does nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "decide/filter_use.h"
#include "decide/hca_ports.h"

namespace topoguard {

struct FilterContext {
  const View& view;
  const Policy& policy;
  const Topology& topology;
};

struct FilterRow {
  std::string_view reason;
  std::string_view taught_by;
  Verdict
      verdict;  ///< of those left out: rejected where their own state is the cause, eligible where others are better
  /// Of the ports that are left, those to leave out (same order, same length).
  std::vector<bool> (*leaves_out)(const FilterContext&, const std::vector<PortState*>& left);
  std::string (*detail)(const FilterContext&, const PortState&, const std::vector<PortState*>& kept);
};

/// In the order in which they are applied.
const std::vector<FilterRow>& hca_filter_rows();

/// Applies every row: ports left out get the row's verdict and reason, each appended to `trace`.
void filter_ports(const FilterContext& context, std::vector<PortState>& states, std::vector<RuleMatch>& trace);

/// How the operator's filters fared, after filter_ports.
FilterUses filter_uses(const FilterContext& context, const std::vector<PortState>& states);

/// The link layer of most cards among the fastest ports; InfiniBand where they are equal.
std::string_view majority_layer(const std::vector<PortState*>& ports);

/// One speed class: equal within 5% (4X FDR is 56 or 54.5 Gb/s, depending on who reports it).
bool same_class(double gbps_a, double gbps_b);

}  // namespace topoguard
