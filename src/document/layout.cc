// SPDX-License-Identifier: Apache-2.0
#include "document/layout.h"

#include <algorithm>

#include "document/printable.h"

namespace topoguard {
namespace {

// The longest prefix of at most width columns.
std::string_view prefix_of(std::string_view text, std::size_t width) {
  std::size_t at = 0;
  for (std::size_t column = 0; at < text.size() && column < width; ++column)
    at += std::max<std::size_t>(1, utf8_length(text, at));
  return text.substr(0, std::min(at, text.size()));
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t first, std::size_t indent) {
  const std::string clean = printable(text);
  std::string_view rest = clean;
  std::string out;
  std::size_t column = first;
  bool begin = true;  // nothing stands on this line yet
  while (!rest.empty()) {
    std::string_view word = rest.substr(0, std::min(rest.find(' '), rest.size()));
    const std::size_t width = columns(word);
    if (!begin && column + 1 + width > kTextWidth) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
      begin = true;
    }
    const std::size_t room = kTextWidth - std::min(column, kTextWidth - 1);
    if (begin && width > room) {
      word = prefix_of(word, room);
      out += word;
      rest.remove_prefix(word.size());
      out += "\n" + std::string(indent, ' ');
      column = indent;
      continue;
    }
    if (!begin) out += ' ';
    out += word;
    column += width + (begin ? 0 : 1);
    begin = false;
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
  }
  return out + "\n";
}

std::string padded(std::string_view text, std::size_t width) {
  std::string out = printable(text);
  const std::size_t have = columns(out);
  if (have > width)
    return std::string(prefix_of(out, width - std::min<std::size_t>(width, 3))) +
           std::string(std::min<std::size_t>(width, 3), '.');
  return out + std::string(width - have, ' ');
}

std::string painted(std::string_view text, Paint paint, bool on) {
  const char* code = "";
  switch (paint) {
    case Paint::good:
      code = "32";
      break;
    case Paint::bad:
      code = "1;31";
      break;
    case Paint::warn:
      code = "33";
      break;
    case Paint::note:
      code = "36";
      break;
    case Paint::dim:
      code = "2";
      break;
    case Paint::strong:
      code = "1";
      break;
    case Paint::none:
      on = false;
      break;
  }
  if (!on) return std::string(text);
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

}  // namespace topoguard
