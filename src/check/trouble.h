// SPDX-License-Identifier: Apache-2.0
// One connection with a trouble, and many of them folded into few: a host that nobody reaches is one trouble, not one
// per peer. Internal to src/check. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace topoguard::check {

struct Trouble {
  std::string code;
  std::string from, to;  ///< "node-a eth0 10.0.0.1"
  std::string cause;     ///< "no answer within 3.5 s": troubles are folded where code and cause are equal
  std::string detail;    ///< of one of them, after the cause
  bool rdma = false;
};

struct Folded {
  Trouble first;
  enum class Shape : unsigned char { one, both_ways, all_to, all_from } shape = Shape::one;
  std::vector<std::string> others;  ///< the other ends, where there are several
};

std::vector<Folded> fold(std::vector<Trouble> troubles);

/// Names in a sentence: at most six, then how many more.
std::string listed(const std::vector<std::string>& names);

}  // namespace topoguard::check
