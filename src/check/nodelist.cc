// SPDX-License-Identifier: Apache-2.0
#include "check/nodelist.h"

#include <algorithm>
#include <charconv>

namespace topoguard::check {
namespace {

using Names = std::vector<std::string>;

// The parts between commas that are not inside brackets; empty where a bracket has no partner.
std::optional<std::vector<std::string_view>> split(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  bool inside = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '[') {
      if (inside) return std::nullopt;
      inside = true;
    } else if (i < text.size() && text[i] == ']') {
      if (!inside) return std::nullopt;
      inside = false;
    } else if (i == text.size() || (text[i] == ',' && !inside)) {
      parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  if (inside) return std::nullopt;
  return parts;
}

std::optional<unsigned> number(std::string_view text) {
  unsigned value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

// "001-003,7" as 001, 002, 003, 7.
std::optional<Names> ranges(std::string_view text) {
  Names out;
  while (true) {
    const auto part = text.substr(0, text.find(','));
    const auto dash = part.find('-');
    const auto first = part.substr(0, dash), last = dash == part.npos ? first : part.substr(dash + 1);
    const auto low = number(first), high = number(last);
    if (!low || !high || *low > *high || *high - *low >= kMostHosts || out.size() > kMostHosts) return std::nullopt;
    for (unsigned i = *low; i <= *high; ++i) {
      std::string digits = std::to_string(i);
      if (digits.size() < first.size()) digits.insert(0, first.size() - digits.size(), '0');
      out.push_back(std::move(digits));
    }
    if (part.size() == text.size()) return out;
    text.remove_prefix(part.size() + 1);
  }
}

// An IPv6 address in brackets is no range.
bool is_address(std::string_view inside) { return inside.find(':') != inside.npos; }

std::optional<Names> expand(std::string_view part) {
  Names out{""};
  while (!part.empty()) {
    const auto open = part.find('[');
    for (std::string& name : out) name += part.substr(0, open);
    if (open == part.npos) break;
    const auto close = part.find(']', open);
    const auto inside = part.substr(open + 1, close - open - 1);
    part.remove_prefix(close + 1);
    if (is_address(inside)) {
      for (std::string& name : out) name += "[" + std::string(inside) + "]";
      continue;
    }
    const auto numbers = ranges(inside);
    if (!numbers || numbers->size() * out.size() > kMostHosts) return std::nullopt;
    Names longer;
    for (const std::string& name : out)
      for (const std::string& digits : *numbers) longer.push_back(name + digits);
    out = std::move(longer);
  }
  return out;
}

}  // namespace

std::optional<Names> expand_nodelist(std::string_view text) {
  const auto parts = split(text);
  if (!parts) return std::nullopt;
  Names out;
  for (const std::string_view part : *parts) {
    const auto names = expand(part);
    if (!names || out.size() + names->size() > kMostHosts) return std::nullopt;
    out.insert(out.end(), names->begin(), names->end());
  }
  if (std::any_of(out.begin(), out.end(), [](const std::string& name) { return name.empty(); })) return std::nullopt;
  return out;
}

}  // namespace topoguard::check
