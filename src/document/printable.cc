// SPDX-License-Identifier: Apache-2.0
#include "document/printable.h"

namespace topoguard {

std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  if (at >= text.size()) return 0;
  const unsigned first = byte(at);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(at + 1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const unsigned low = first == 0xe0 ? 0xa0 : 0x80;
    const unsigned high = first == 0xed ? 0x9f : 0xbf;
    return follows(at + 1, low, high) && follows(at + 2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const unsigned low = first == 0xf0 ? 0x90 : 0x80;
    const unsigned high = first == 0xf4 ? 0x8f : 0xbf;
    return follows(at + 1, low, high) && follows(at + 2) && follows(at + 3) ? 4 : 0;
  }
  return 0;
}

std::string printable(std::string_view text, std::size_t limit) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  std::size_t fits = 0;  // length of the longest prefix that leaves room for "..."
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t length = utf8_length(text, i);
    // U+0080 to U+009F are control characters too: some terminals obey them.
    const bool c1 = length == 2 && first == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (length == 0 || c1 || first < 0x20 || first == 0x7f) {
      const std::size_t count = c1 ? 2 : 1;
      for (std::size_t k = 0; k < count; ++k) {
        const auto b = static_cast<unsigned char>(text[i + k]);
        out += "\\x";
        out += kHex[b >> 4];
        out += kHex[b & 15];
      }
      i += count;
    } else {
      out.append(text.substr(i, length));
      i += length;
    }
    if (out.size() > limit) {
      out.resize(fits);
      return out += "...";
    }
    if (limit >= 3 && out.size() <= limit - 3) fits = out.size();
  }
  return out;
}

std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++count) {
    const std::size_t length = utf8_length(text, i);
    i += length == 0 ? 1 : length;
  }
  return count;
}

}  // namespace topoguard
