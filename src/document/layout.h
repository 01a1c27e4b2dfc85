// SPDX-License-Identifier: Apache-2.0
// Text for people in columns: every line fits kTextWidth, colours do not count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace topoguard {

inline constexpr std::size_t kTextWidth = 100;

/// text in lines of at most kTextWidth columns, each line end included. The first line goes on where the caller stands,
/// at column `first`; the others begin with `indent` blanks. Words longer than a line are cut. Text is made printable.
std::string wrapped(std::string_view text, std::size_t first, std::size_t indent);

/// Filled with blanks to width columns; longer text is cut and ends with "...".
std::string padded(std::string_view text, std::size_t width);

enum class Paint : std::uint8_t { none, good, bad, warn, note, dim, strong };
/// With the terminal's colour codes around where on is set.
std::string painted(std::string_view text, Paint paint, bool on);

}  // namespace topoguard
