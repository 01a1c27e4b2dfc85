// SPDX-License-Identifier: Apache-2.0
#include "policy/likely.h"

#include <algorithm>
#include <array>

namespace topoguard {
namespace {

constexpr std::size_t kLongest = 64;

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

// Optimal string alignment (Damerau): three rows of the usual table are enough.
std::size_t distance(std::string_view a, std::string_view b) {
  std::array<std::array<std::size_t, kLongest + 1>, 3> rows{};
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& above = rows[(i + 2) % 3];
    const auto& two_above = rows[(i + 1) % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = upper(a[i - 1]) == upper(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && upper(a[i - 1]) == upper(b[j - 2]) && upper(a[i - 2]) == upper(b[j - 1]))
        row[j] = std::min(row[j], two_above[j - 2] + 1);
    }
  }
  return rows[a.size() % 3][b.size()];
}

}  // namespace

std::optional<std::string_view> likely_name(std::string_view written, std::span<const std::string_view> known) {
  if (written.empty() || written.size() > kLongest) return std::nullopt;
  std::size_t best = std::min<std::size_t>(3, std::max<std::size_t>(1, written.size() / 5)) + 1;
  std::optional<std::string_view> found;
  for (const std::string_view name : known) {
    if (name.size() > kLongest) continue;
    const std::size_t d = distance(written, name);
    if (d < best) {
      best = d;
      found = name;
    } else if (d == best && found && *found != name) {
      found.reset();
    }
  }
  return found;
}

}  // namespace topoguard
