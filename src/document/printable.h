// SPDX-License-Identifier: Apache-2.0
// Text from elsewhere (names, values, pasted lines) made fit for one line on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace topoguard {

/// Valid UTF-8 without control characters: C0, C1, DEL and bytes that are not UTF-8 become \xNN. Where the result would
/// be longer than limit bytes it is cut at a character and ends with "...". Never throws but for lack of memory.
std::string printable(std::string_view text, std::size_t limit = std::string_view::npos);

/// Length in bytes (1 to 4) of the UTF-8 character at text[at]; 0 where there is none (RFC 3629: no surrogates, no
/// overlong forms).
std::size_t utf8_length(std::string_view text, std::size_t at);

/// Columns that a terminal gives to text, counted as one per character.
std::size_t columns(std::string_view text);

}  // namespace topoguard
