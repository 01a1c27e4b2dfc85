// SPDX-License-Identifier: Apache-2.0
#include "document/json_writer.h"

#include <fmt/format.h>

#include <cmath>

#include "document/printable.h"

namespace topoguard {
namespace json {
namespace {

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
    const std::size_t bytes = utf8_length(text, 0);
    const char c = text.front();
    if (bytes == 0)
      to += "\xEF\xBF\xBD";
    else if (const auto escape = short_escape(c); !escape.empty())
      to += escape;
    else if (static_cast<unsigned char>(c) < 0x20)
      to += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      to += text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
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
