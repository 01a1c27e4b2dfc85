// SPDX-License-Identifier: Apache-2.0
#include "steer/environment.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace topoguard {
namespace {

// malloc and not new: what is published belongs to the process for ever, whatever becomes of our own runtime.
char* entry_of(const std::string& name, const std::string& value) {
  auto* entry = static_cast<char*>(std::malloc(name.size() + value.size() + 2));
  if (entry == nullptr) return nullptr;
  // NOLINTNEXTLINE(bugprone-not-null-terminated-result): the second copy brings the end
  std::memcpy(entry, name.data(), name.size());
  entry[name.size()] = '=';
  std::memcpy(entry + name.size() + 1, value.c_str(), value.size() + 1);
  return entry;
}

bool names(const char* entry, const std::string& name) {
  return std::strncmp(entry, name.c_str(), name.size()) == 0 && entry[name.size()] == '=';
}

}  // namespace

bool publish_environment(const std::map<std::string, std::string>& additions,
                         const std::set<std::string>& removals) noexcept {
  if (additions.empty() && removals.empty()) return true;
  char** old = environ;
  std::size_t count = 0;
  while (old != nullptr && old[count] != nullptr) ++count;
  auto** fresh = static_cast<char**>(std::malloc((count + additions.size() + 1) * sizeof(char*)));
  if (fresh == nullptr) return false;

  const auto replaced = [&](const char* entry) {
    for (const auto& addition : additions)
      if (names(entry, addition.first)) return true;
    for (const auto& removal : removals)
      if (names(entry, removal)) return true;
    return false;
  };
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count && old[i] != nullptr; ++i)
    if (!replaced(old[i])) fresh[kept++] = old[i];
  const std::size_t first_new = kept;
  for (const auto& addition : additions) {
    fresh[kept] = entry_of(addition.first, addition.second);
    if (fresh[kept] == nullptr) {
      while (kept > first_new) std::free(fresh[--kept]);
      std::free(fresh);
      return false;
    }
    ++kept;
  }
  fresh[kept] = nullptr;
  // Everything above is visible before the array is.
  __atomic_store_n(&environ, fresh, __ATOMIC_RELEASE);
  return true;
}

}  // namespace topoguard
