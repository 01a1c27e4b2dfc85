// SPDX-License-Identifier: Apache-2.0
//
// load_path PLUGIN MOCKS SCENE: one job's worth of calls without any fault, for valgrind and sanitizers.
// Exit: 0 all held, 1 something did not.
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "scene.h"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  char scratch[] = "/tmp/topoguard-load-XXXXXX";
  if (mkdtemp(scratch) == nullptr) return 2;
  const faults::Place place{argv[1], argv[2], {}, scratch};
  bool declined = false;
  faults::prepare(place, argv[3]);
  const std::string before = faults::belongings();
  std::string problem = faults::play(place, argv[3], &declined);
  if (problem.empty() && declined) problem = "topoguard declined";
  const std::string after = faults::belongings();
  // The log file stays open on purpose, with the lock's descriptor beside it.
  if (problem.empty() && after != before && std::string(argv[3]) != "files")
    problem = "left \"" + after + "\" instead of \"" + before + "\"";
  std::filesystem::remove_all(scratch);
  if (!problem.empty()) std::fprintf(stderr, "%s: %s\n", argv[3], problem.c_str());
  return problem.empty() ? 0 : 1;
}
