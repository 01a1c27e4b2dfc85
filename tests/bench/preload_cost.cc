// SPDX-License-Identifier: Apache-2.0
// What LD_PRELOAD adds to a process that does nothing: /bin/true, started without a library, with an empty one-symbol
// library and with libtopoguard.so, in turn, thousands of times. Prints medians, 10% quantiles and the two differences
// of the medians. Usage: preload_cost EMPTY.so LIBTOPOGUARD.so [ROUNDS]
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

// 0.5: the median. 0.1: what is left where other processes disturb least.
double quantile(std::vector<double> values, double share) {
  const auto place = static_cast<std::ptrdiff_t>(static_cast<double>(values.size()) * share);
  std::nth_element(values.begin(), values.begin() + place, values.end());
  return values[static_cast<std::size_t>(place)];
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
  for (const double share : {0.5, 0.1})
    std::printf("/bin/true, %d rounds, %s us: none %.1f, empty library %.1f, libtopoguard.so %.1f\n", rounds,
                share < 0.5 ? "tenth" : "median", quantile(times[0], share), quantile(times[1], share),
                quantile(times[2], share));
  const double none = quantile(times[0], 0.5), empty = quantile(times[1], 0.5), ours = quantile(times[2], 0.5);
  std::printf("libtopoguard.so adds %.1f us to the empty library (goal 20), %.1f us to none (goal 60)\n", ours - empty,
              ours - none);
  return ours - empty <= 20 && ours - none <= 60 ? 0 : 1;
}
