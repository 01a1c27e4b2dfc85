// SPDX-License-Identifier: Apache-2.0
#include "nccl_rules/release.h"

#include <charconv>

namespace topoguard {
namespace {

/// Takes a number of at most six digits from the front of `text`.
std::optional<int> take_number(std::string_view& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const auto length = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || length == 0 || length > 6 || value < 0) return std::nullopt;
  text.remove_prefix(length);
  return value;
}

}  // namespace

std::optional<NcclRelease> NcclRelease::parse(std::string_view text) {
  if (!text.empty() && (text.front() == 'v' || text.front() == 'V')) text.remove_prefix(1);
  const auto first = take_number(text);
  if (!first) return std::nullopt;
  if (text.empty()) {
    // NCCL_VERSION in nccl.h: X*10000 + Y*100 + Z since 2.9, X*1000 + Y*100 + Z before.
    if (*first >= 10000) return NcclRelease{*first / 10000, *first / 100 % 100, *first % 100};
    if (*first >= 1000) return NcclRelease{*first / 1000, *first / 100 % 10, *first % 100};
    return std::nullopt;
  }
  NcclRelease release{*first, 0, 0};
  if (text.front() != '.') return std::nullopt;
  text.remove_prefix(1);
  const auto minor = take_number(text);
  if (!minor) return std::nullopt;
  release.minor = *minor;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    const auto patch = take_number(text);
    if (!patch) return std::nullopt;
    release.patch = *patch;
  }
  return release;
}

std::string NcclRelease::text() const {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

}  // namespace topoguard
