// SPDX-License-Identifier: Apache-2.0
// Where ld.so would find a library by name: LD_LIBRARY_PATH, the cache, the default directories (ld.so(8)). Nothing is
// loaded. RPATH and RUNPATH of the caller are not looked at: NCCL has none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/sources.h"

namespace topoguard::host {

/// Remembers the search path and the cache's text, for several names. One collection's; not thread-safe.
class LibraryPath {
 public:
  /// `ld_library_path` as the environment has it. Ignored by ld.so, and so by us, under secure execution.
  LibraryPath(const Sources& sources, const std::string& ld_library_path);
  /// Every existing file of that name, in ld.so's order; the first one wins.
  std::vector<std::string> find(const std::string& name) const;

 private:
  std::vector<std::string> first_;  // before the cache
  std::vector<std::string> last_;   // after it
  std::string cache_;
};

/// Paths that an ld.so.cache (glibc-ld.so.cache1.1, glibc's dl-cache.h) has for a name. Bounds are checked: any bytes
/// do.
std::vector<std::string> cache_lookup(const std::string& cache, const std::string& name);

}  // namespace topoguard::host
