// SPDX-License-Identifier: Apache-2.0
// Which known name a misspelt one probably means.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace topoguard {

/// The nearest known name, case aside, counting inserted, lost, changed and swapped characters: at most one per five
/// characters and three in all, and no tie with another. Empty where nothing is that near. O(known * length^2); names
/// over 64 bytes match nothing.
std::optional<std::string_view> likely_name(std::string_view written, std::span<const std::string_view> known);

}  // namespace topoguard
