// SPDX-License-Identifier: Apache-2.0
#include "host/library_path.h"

#include <algorithm>
#include <cstring>

#include "host/file.h"

namespace topoguard::host {
namespace {

constexpr std::size_t kCacheLimit = 8u << 20;
constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
constexpr std::size_t kHeader = 48;
constexpr std::size_t kEntry = 24;  // flags, key, value, osversion: u32 each; hwcap: u64

#if defined(__aarch64__)
constexpr const char* kMultiarch = "aarch64-linux-gnu";
#else
constexpr const char* kMultiarch = "x86_64-linux-gnu";
#endif

std::uint32_t word(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace

std::vector<std::string> cache_lookup(const std::string& cache, const std::string& name) {
  std::vector<std::string> paths;
  const auto start = cache.find(kMagic);  // an old-format table may stand before it
  if (start == std::string::npos) return paths;
  const std::size_t count = std::min<std::size_t>(word(cache, start + kMagic.size()), (cache.size() - start) / kEntry);
  const auto text_at = [&](std::uint32_t offset) -> std::string_view {
    if (offset >= cache.size() - start) return {};
    const char* at = cache.data() + start + offset;
    return std::string_view(at, ::strnlen(at, cache.size() - start - offset));
  };
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t entry = start + kHeader + i * kEntry;
    if (text_at(word(cache, entry + 4)) != name) continue;
    if (const auto path = text_at(word(cache, entry + 8)); !path.empty()) paths.emplace_back(path);
  }
  return paths;
}

LibraryPath::LibraryPath(const Sources& sources, const std::string& ld_library_path) {
  std::string_view left = ld_library_path;
  while (!left.empty()) {
    const auto end = std::min(left.find_first_of(":;"), left.size());
    if (end > 0)
      first_.emplace_back(left.substr(0, end));  // an empty entry is the working directory: not a place to look
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  if (!sources.library_dirs.empty()) {
    last_ = sources.library_dirs;
    return;
  }
  cache_ = read_file(sources.etc_path("/ld.so.cache"), kCacheLimit).text;
  if (cache_.find("libnccl") == std::string::npos) cache_.clear();
  if (!sources.etc.empty()) return;
  for (const char* base : {"/lib", "/usr/lib"}) last_.push_back(std::string(base) + "/" + kMultiarch);
  for (const char* base : {"/lib64", "/usr/lib64", "/lib", "/usr/lib"}) last_.emplace_back(base);
}

std::vector<std::string> LibraryPath::find(const std::string& name) const {
  std::vector<std::string> paths;
  const auto add = [&](std::string path) {
    if (std::find(paths.begin(), paths.end(), path) == paths.end() && exists(path)) paths.push_back(std::move(path));
  };
  if (name.find('/') != std::string::npos) {
    add(name);
    return paths;
  }
  for (const std::string& directory : first_) add(directory + "/" + name);
  for (std::string& path : cache_lookup(cache_, name)) add(std::move(path));
  for (const std::string& directory : last_) add(directory + "/" + name);
  return paths;
}

}  // namespace topoguard::host
