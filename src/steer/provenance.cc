// SPDX-License-Identifier: Apache-2.0
#include "steer/provenance.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>

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
  const int fd = open(sources.proc_path("sys/kernel/random/boot_id").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "unknown";
  char text[64];
  ssize_t got;
  do got = read(fd, text, sizeof text);
  while (got < 0 && errno == EINTR);
  close(fd);
  std::string id(text, got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!id.empty() && (id.back() == '\n' || id.back() == ' ')) id.pop_back();
  // The identity shares a value with separators of ours: nothing else may be in it.
  const bool plain = std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == '-';
  });
  return id.empty() || !plain ? "unknown" : id;
}

}  // namespace

std::string host_identity(const Sources& sources) {
  struct stat ns {};
  const bool known = stat(sources.proc_path("self/ns/net").c_str(), &ns) == 0;
  return boot_id(sources) + '+' + (known ? std::to_string(ns.st_ino) : "unknown");
}

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
