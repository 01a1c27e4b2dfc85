// SPDX-License-Identifier: Apache-2.0
// Which hosts try each other, and which of their addresses. Up to 64 hosts every pair; above that each host tries those
// at distances of 1, 2, 4, 8, ... to both sides, so that a host has at most about 2 log2(n) partners and every host is
// reached from many sides: 1,000 hosts make 18 partners each instead of 999. Pure functions.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace topoguard::check {

inline constexpr std::size_t kEveryPair = 64;

/// Positions that host `self` of `hosts` tries, ascending. Whom it tries tries it.
std::vector<std::size_t> partners(std::size_t self, std::size_t hosts);

/// (own, other's) positions in two lists of devices, as NCCL pairs them by number; where one list is longer, the
/// shorter one's last device serves the rest. Empty where either is.
std::vector<std::pair<std::size_t, std::size_t>> matched(std::size_t own, std::size_t others);

}  // namespace topoguard::check
