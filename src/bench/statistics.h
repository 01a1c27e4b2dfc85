// SPDX-License-Identifier: Apache-2.0
// Order statistics: on a shared machine the mean of times says nothing. Pure functions; an empty list gives 0.
#pragma once

#include <vector>

namespace topoguard::bench {

/// Between the two nearest values, in a straight line. `share` is 0 to 1.
double percentile(std::vector<double> values, double share);
inline double median(std::vector<double> values) { return percentile(std::move(values), 0.5); }

struct Spread {
  double median = 0;
  double low = 0, high = 0;                ///< 10% and 90% of the values
  double surely_low = 0, surely_high = 0;  ///< where the median is with 95% confidence (binomial, order statistics)
  std::size_t count = 0;
};
Spread spread_of(const std::vector<double>& values);

}  // namespace topoguard::bench
