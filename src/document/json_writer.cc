// SPDX-License-Identifier: Apache-2.0
#include "document/json_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace topoguard {
namespace json {
namespace {

struct Character {
  std::size_t bytes;
  bool whole;
};

// The Unicode Standard 15, table 3-7 (well-formed UTF-8) and section 3.9 (a maximal part that is none is one U+FFFD).
Character character_at(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned first = byte(0);
  if (first < 0x80) return {1, true};
  const std::size_t length = first < 0xC2 || first > 0xF4 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  for (std::size_t at = 1; at < length; ++at) {
    const unsigned low = at > 1 ? 0x80 : first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    const unsigned high = at > 1 ? 0xBF : first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (at >= text.size() || byte(at) < low || byte(at) > high) return {at, false};
  }
  return {std::max<std::size_t>(length, 1), length > 0};
}

std::string_view short_escape(char c) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return "";
  }
}

}  // namespace

void append(std::string& to, std::string_view text) {
  to += '"';
  while (!text.empty()) {
    const auto [bytes, whole] = character_at(text);
    const char c = text.front();
    if (!whole)
      to += "\xEF\xBF\xBD";
    else if (const auto escape = short_escape(c); !escape.empty())
      to += escape;
    else if (static_cast<unsigned char>(c) < 0x20)
      to += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      to += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  to += '"';
}

void append(std::string& to, double number) {
  if (!std::isfinite(number))
    to += "null";
  else if (std::floor(number) == number && std::fabs(number) < 1e15)
    to += std::to_string(static_cast<std::int64_t>(number));
  else
    to += fmt::format("{}", number);
}

}  // namespace json

void JsonObject::key(std::string_view name) {
  if (!members_.empty()) members_ += ',';
  json::append(members_, name);
  members_ += ':';
}

JsonObject& JsonObject::put_all(const JsonObject& members) {
  if (!members_.empty() && !members.members_.empty()) members_ += ',';
  members_ += members.members_;
  return *this;
}

}  // namespace topoguard
