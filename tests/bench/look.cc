// SPDX-License-Identifier: Apache-2.0
// What the first communicator of a process pays: collect, policy and decide as the net plugin does them, in this
// process, in turn with the command `ip -d -j addr`, which reads a part of the same and starts a process for it. One
// line of JSON: milliseconds of each round. Usage: look ROUNDS
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/session.h"
#include "decide/decide.h"
#include "policy/policy_from.h"

namespace {

double milliseconds() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double cpu_milliseconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

struct Cost {
  double wall = 0, cpu = 0;
};

Cost run_ip() {
  static char program[] = "ip", details[] = "-d", json[] = "-j", address[] = "addr";
  char* arguments[] = {program, details, json, address, nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  const double start = milliseconds();
  pid_t child = 0;
  int status = 0;
  rusage used{};
  if (posix_spawnp(&child, program, &actions, nullptr, arguments, environ) != 0 ||
      wait4(child, &status, 0, &used) != child || status != 0) {
    std::fprintf(stderr, "look: `ip -d -j addr` failed\n");
    std::exit(1);
  }
  const double took = milliseconds() - start;
  posix_spawn_file_actions_destroy(&actions);
  const auto whole = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) * 1e-3;
  };
  return {took, whole(used.ru_utime) + whole(used.ru_stime)};
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 100;
  std::vector<double> collected, decided, ip, cpu, ip_cpu;
  std::size_t links = 0;
  for (int round = -2; round < rounds; ++round) {
    topoguard::CollectOptions options;
    options.nccl_version = "2.28.9";
    const double start = milliseconds(), cpu_start = cpu_milliseconds();
    const topoguard::HostSnapshot host = topoguard::look_at_host(topoguard::Sources(), options);
    const double between = milliseconds();
    const topoguard::Decision decision = topoguard::decide(host, topoguard::policy_from(host));
    const double end = milliseconds(), cpu_end = cpu_milliseconds();
    const Cost other = run_ip();
    links = host.links ? host.links->size() : 0;
    if (decision.devices.size() < links) return std::fprintf(stderr, "look: a link has no verdict\n"), 1;
    if (round < 0) continue;
    collected.push_back(between - start);
    decided.push_back(end - between);
    cpu.push_back(cpu_end - cpu_start);
    ip.push_back(other.wall);
    ip_cpu.push_back(other.cpu);
  }
  std::printf("%s\n", nlohmann::json{{"links", links},
                                     {"collect_ms", collected},
                                     {"decide_ms", decided},
                                     {"ip_ms", ip},
                                     {"cpu_ms", cpu},
                                     {"ip_cpu_ms", ip_cpu}}
                          .dump()
                          .c_str());
  return 0;
}
