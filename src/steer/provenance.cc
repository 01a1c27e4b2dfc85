// SPDX-License-Identifier: Apache-2.0
#include "steer/provenance.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "host/file.h"

namespace topoguard {
namespace {

// FNV-1a: says "unchanged", guards nothing.
std::string digest(std::string_view text) {
  std::uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  char hex[9];
  std::snprintf(hex, sizeof hex, "%08x", hash);
  return hex;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string boot_id(const Sources& sources) {
  const auto id = host::read_word(sources.proc_path("/sys/kernel/random/boot_id"));
  // The identity shares a value with separators of ours: nothing else may be in it.
  const bool plain = id && !id->empty() && id->find_first_not_of("0123456789abcdefABCDEF-") == std::string::npos;
  return plain ? *id : "unknown";
}

// "net:[4026531840]"
std::string network_namespace(const Sources& sources) {
  const auto link = host::link_target(sources.proc_path("/self/ns/net"));
  const auto open = link ? link->find('[') : std::string::npos;
  const auto close = link ? link->find(']') : std::string::npos;
  if (open == std::string::npos || close == std::string::npos || close < open) return "unknown";
  return link->substr(open + 1, close - open - 1);
}

}  // namespace

std::string host_identity(const Sources& sources) { return boot_id(sources) + '+' + network_namespace(sources); }

UserEnvironment user_environment(std::map<std::string, std::string> all) {
  UserEnvironment user;
  const auto applied = all.find(kApplied);
  if (applied != all.end()) {
    const std::string value = applied->second;
    all.erase(applied);
    const auto colon = value.rfind(':');
    if (colon != std::string::npos) {
      const auto identity = split(std::string_view(value).substr(0, colon), '+');
      const auto names = split(std::string_view(value).substr(colon + 1), ',');
      const auto digests = identity.size() > 2 ? split(identity[2], '.') : std::vector<std::string>();
      user.published_on = identity.size() > 1 ? identity[0] + '+' + identity[1] : value.substr(0, colon);
      for (std::size_t i = 0; i < names.size(); ++i) {
        const auto variable = all.find(names[i]);
        // Only NCCL's own variables are ever published; anything else in the list is somebody's mistake.
        if (variable == all.end() || names[i].compare(0, 5, "NCCL_") != 0) continue;
        if (i < digests.size() && digests[i] != digest(variable->second)) continue;
        user.ours.push_back(names[i]);
        all.erase(variable);
      }
    }
  }
  std::sort(user.ours.begin(), user.ours.end());
  user.variables = std::move(all);
  return user;
}

std::vector<std::string> user_entries(const std::vector<std::string>& entries, UserEnvironment* result) {
  std::map<std::string, std::string> all;
  for (const auto& entry : entries) {
    const auto equals = entry.find('=');
    // The first of two equal names is what getenv() finds.
    if (equals != std::string::npos) all.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  UserEnvironment user = user_environment(std::move(all));
  std::vector<std::string> kept;
  for (const auto& entry : entries) {
    const auto equals = entry.find('=');
    if (equals == std::string::npos || user.variables.count(entry.substr(0, equals)) > 0) kept.push_back(entry);
  }
  if (result != nullptr) *result = std::move(user);
  return kept;
}

std::string applied_value(std::string_view identity, const std::map<std::string, std::string>& published) {
  std::string names, digests;
  for (const auto& [name, value] : published) {
    names += (names.empty() ? "" : ",") + name;
    digests += (digests.empty() ? "" : ".") + digest(value);
  }
  return std::string(identity) + '+' + digests + ':' + names;
}

}  // namespace topoguard
