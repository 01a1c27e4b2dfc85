// SPDX-License-Identifier: Apache-2.0
#include "check/pairs.h"

#include <algorithm>
#include <set>

namespace topoguard::check {

std::vector<std::size_t> partners(std::size_t self, std::size_t hosts) {
  std::set<std::size_t> found;
  if (hosts <= kEveryPair) {
    for (std::size_t i = 0; i < hosts; ++i) found.insert(i);
  } else {
    for (std::size_t distance = 1; distance <= hosts / 2; distance *= 2) {
      found.insert((self + distance) % hosts);
      found.insert((self + hosts - distance) % hosts);
    }
  }
  found.erase(self);
  return {found.begin(), found.end()};
}

std::vector<std::pair<std::size_t, std::size_t>> matched(std::size_t own, std::size_t others) {
  std::vector<std::pair<std::size_t, std::size_t>> out;
  if (own == 0 || others == 0) return out;
  for (std::size_t i = 0; i < std::max(own, others); ++i)
    out.emplace_back(std::min(i, own - 1), std::min(i, others - 1));
  return out;
}

}  // namespace topoguard::check
