// SPDX-License-Identifier: Apache-2.0
// Recorded hosts outside the repository: TOPOGUARD_CASES, else ../shared/cases beside the checkout. A clone has
// neither.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace topoguard::test {

inline std::string file_text(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// Every host document (host.json, host-*.json) in the repository's own recorded hosts and in the cases, in a stable
/// order.
inline std::vector<std::filesystem::path> recorded_hosts() {
  namespace fs = std::filesystem;
  const char* named = std::getenv("TOPOGUARD_CASES");
  const fs::path root = TOPOGUARD_SOURCE_ROOT;
  std::vector<fs::path> found;
  for (const fs::path& folder : {root / "tests/hosts/snapshots", named ? fs::path(named) : root / "../shared/cases"}) {
    std::error_code missing;
    for (fs::recursive_directory_iterator it(folder, missing), end; !missing && it != end; it.increment(missing))
      if (it->path().filename().string().rfind("host", 0) == 0 && it->path().extension() == ".json")
        found.push_back(it->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace topoguard::test
