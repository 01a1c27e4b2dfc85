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
    const auto fields = split(applied->second, ':');
    if (fields.size() >= 2) {
      user.published_on = fields[0];
      const auto names = split(fields[1], ',');
      const auto digests = fields.size() > 2 ? split(fields[2], ',') : std::vector<std::string>();
      for (std::size_t i = 0; i < names.size(); ++i) {
        const auto variable = all.find(names[i]);
        // Only NCCL's own variables are ever published; anything else in the list is somebody's mistake.
        if (variable == all.end() || names[i].compare(0, 5, "NCCL_") != 0) continue;
        if (i < digests.size() && digests[i] != digest(variable->second)) continue;
        user.ours.push_back(names[i]);
        all.erase(variable);
      }
    }
    all.erase(kApplied);
  }
  std::sort(user.ours.begin(), user.ours.end());
  user.variables = std::move(all);
  return user;
}

std::string applied_value(std::string_view identity, const std::map<std::string, std::string>& published) {
  std::string names, digests;
  for (const auto& [name, value] : published) {
    names += (names.empty() ? "" : ",") + name;
    digests += (digests.empty() ? "" : ",") + digest(value);
  }
  return std::string(identity) + ':' + names + ':' + digests;
}

}  // namespace topoguard
