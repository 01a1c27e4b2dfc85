// SPDX-License-Identifier: Apache-2.0
#include "check/pairs.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

using namespace topoguard::check;

TEST_CASE("who tries whom") {
  for (const std::size_t hosts : {1, 2, 3, 7, 63, 64, 65, 66, 100, 127, 128, 129, 1000, 1024, 5000}) {
    INFO(hosts);
    std::size_t most = 0;
    bool symmetric = true, sane = true;
    std::vector<bool> reached(hosts);
    std::vector<std::size_t> next{0};
    reached[0] = true;
    for (std::size_t i = 0; i < hosts; ++i) {
      const auto mine = partners(i, hosts);
      most = std::max(most, mine.size());
      sane = sane && std::is_sorted(mine.begin(), mine.end()) &&
             std::set<std::size_t>(mine.begin(), mine.end()).size() == mine.size();
      for (const std::size_t other : mine) {
        sane = sane && other < hosts && other != i;
        const auto theirs = partners(other, hosts);
        symmetric = symmetric && std::binary_search(theirs.begin(), theirs.end(), i);
      }
    }
    while (!next.empty()) {  // every host is connected to every other through the pairs
      const auto from = next.back();
      next.pop_back();
      for (const std::size_t to : partners(from, hosts)) {
        if (!reached[to]) next.push_back(to);
        reached[to] = true;
      }
    }
    CHECK(sane);
    CHECK(symmetric);
    CHECK(std::all_of(reached.begin(), reached.end(), [](bool there) { return there; }));
    if (hosts <= kEveryPair)
      CHECK(most == hosts - 1);
    else
      CHECK(most <= 24);
    CHECK(most <= kEveryPair);  // what a plan may hold
  }
}

TEST_CASE("as many partners as the document says") { CHECK(partners(17, 1000).size() == 18); }

TEST_CASE("devices are matched by number, and none is left out") {
  using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;
  CHECK(matched(2, 2) == Pairs{{0, 0}, {1, 1}});
  CHECK(matched(1, 3) == Pairs{{0, 0}, {0, 1}, {0, 2}});
  CHECK(matched(3, 2) == Pairs{{0, 0}, {1, 1}, {2, 1}});
  CHECK(matched(0, 2).empty());
  CHECK(matched(2, 0).empty());
}
