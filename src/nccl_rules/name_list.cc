// SPDX-License-Identifier: Apache-2.0
#include "nccl_rules/name_list.h"

#include <cstdlib>

namespace topoguard {

NameList NameList::parse(std::string_view text, std::size_t limit) {
  NameList list;
  if (!text.empty() && text.front() == '^') {
    list.exclude = true;
    text.remove_prefix(1);
  }
  if (!text.empty() && text.front() == '=') {
    list.exact = true;
    text.remove_prefix(1);
  }
  while (!text.empty()) {
    const auto comma = text.find(',');
    const auto field = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    const auto colon = field.find(':');
    if (colon == 0 || field.empty()) continue;
    if (list.entries.size() == limit) {
      list.dropped = true;
      break;
    }
    Entry entry{std::string(field.substr(0, colon)), -1};
    if (colon != std::string_view::npos && colon + 1 < field.size())
      entry.port = std::atoi(std::string(field.substr(colon + 1)).c_str());
    list.entries.push_back(std::move(entry));
  }
  return list;
}

bool NameList::entry_matches(const Entry& entry, std::string_view name, int port) const {
  const bool named = exact ? name == entry.name : name.substr(0, entry.name.size()) == entry.name;
  return named && (port == -1 || entry.port == -1 || port == entry.port);
}

bool NameList::lists(std::string_view name, int port) const {
  if (entries.empty()) return true;
  for (const auto& entry : entries)
    if (entry_matches(entry, name, port)) return true;
  return false;
}

}  // namespace topoguard
