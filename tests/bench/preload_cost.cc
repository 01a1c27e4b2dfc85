// SPDX-License-Identifier: Apache-2.0
// What LD_PRELOAD adds to a process that does nothing: /bin/true, started without a library, with an empty one-symbol
// library and with libtopoguard.so, in turn, thousands of times. Prints medians and the two differences.
// Usage: preload_cost EMPTY.so LIBTOPOGUARD.so [ROUNDS]
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

double run_once(const std::string& preload) {
  std::string setting = "LD_PRELOAD=" + preload;
  char* environment[] = {preload.empty() ? nullptr : setting.data(), nullptr};
  char program[] = "/bin/true";
  char* arguments[] = {program, nullptr};
  const auto start = std::chrono::steady_clock::now();
  pid_t child = 0;
  int status = 0;
  if (posix_spawn(&child, program, nullptr, nullptr, arguments, environment) != 0 ||
      waitpid(child, &status, 0) != child || status != 0) {
    std::fprintf(stderr, "cannot run %s with %s\n", program, setting.c_str());
    std::exit(1);
  }
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: preload_cost EMPTY.so LIBTOPOGUARD.so [ROUNDS]\n"), 2;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 3000;
  const std::string kinds[] = {"", argv[1], argv[2]};
  std::vector<double> times[3];
  for (int round = 0; round < rounds + 50; ++round)
    for (int step = 0; step < 3; ++step) {
      const int kind = (round + step) % 3;  // no kind always follows the same other
      const double time = run_once(kinds[kind]);
      if (round >= 50) times[kind].push_back(time);
    }
  const double none = median(times[0]), empty = median(times[1]), ours = median(times[2]);
  std::printf("/bin/true, %d rounds, median us: none %.1f, empty library %.1f, libtopoguard.so %.1f\n", rounds, none,
              empty, ours);
  std::printf("libtopoguard.so adds %.1f us to the empty library (goal 20), %.1f us to none (goal 60)\n", ours - empty,
              ours - none);
  return ours - empty <= 20 && ours - none <= 60 ? 0 : 1;
}
