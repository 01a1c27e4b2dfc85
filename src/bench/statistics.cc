// SPDX-License-Identifier: Apache-2.0
#include "bench/statistics.h"

#include <algorithm>
#include <cmath>

namespace topoguard::bench {

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (values[above] - values[below]) * (place - static_cast<double>(below));
}

Spread spread_of(const std::vector<double>& values) {
  Spread out;
  out.count = values.size();
  if (values.empty()) return out;
  out.median = median(values);
  out.low = percentile(values, 0.1);
  out.high = percentile(values, 0.9);
  // The ranks j and n+1-j around n/2, 1.96 standard deviations of the binomial (n, 1/2) apart.
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const auto n = static_cast<double>(sorted.size());
  const double rank = std::floor((n - 1.96 * std::sqrt(n)) / 2);
  const auto at = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  out.surely_low = sorted[at];
  out.surely_high = sorted[sorted.size() - 1 - at];
  return out;
}

}  // namespace topoguard::bench
