// SPDX-License-Identifier: Apache-2.0
// How far two names are apart, for "did you mean". Pure function.
#pragma once

#include <cstddef>
#include <string_view>

namespace topoguard {

/// Characters inserted, lost or changed, and neighbours swapped, each counting one (optimal string alignment); `limit`
/// + 1 where it is more than that. O(length of a * length of b). Case counts.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);

}  // namespace topoguard
