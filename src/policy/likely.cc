// SPDX-License-Identifier: Apache-2.0
#include "policy/likely.h"

#include <algorithm>
#include <string>

#include "document/edit_distance.h"

namespace topoguard {
namespace {

constexpr std::size_t kLongest = 64;
constexpr std::size_t kFarthest = 3;  // edits

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

}  // namespace

std::optional<std::string_view> likely_name(std::string_view written, std::span<const std::string_view> known) {
  if (written.empty() || written.size() > kLongest) return std::nullopt;
  std::size_t best = std::min<std::size_t>(kFarthest, std::max<std::size_t>(1, written.size() / 5)) + 1;
  std::optional<std::string_view> found;
  const std::string wanted = upper(written);
  for (const std::string_view name : known) {
    if (name.size() > kLongest) continue;
    const std::size_t d = edit_distance(wanted, upper(name), kFarthest);
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
