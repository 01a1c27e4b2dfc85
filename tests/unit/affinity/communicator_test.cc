// SPDX-License-Identifier: Apache-2.0
// bind_for_communicator on the real masks of a child process: the two online CPUs stand for two NUMA nodes, and a
// stand-in for libcuda.so.1 says which GPU is current.
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>

#include "affinity/affinity.h"
#include "affinity/cuda_device.h"

using namespace topoguard;

namespace {

std::vector<unsigned> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  std::vector<unsigned> list;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) list.push_back(cpu);
  return list;
}

struct TwoNodes {
  HostSnapshot host;
  Decision decision;
  Policy policy;
  std::vector<unsigned> cpus = allowed_cpus();

  // Even halves of the allowed CPUs: "GPU" a0 near the first half, b0 near the second.
  TwoNodes() {
    CpuSet half[2];
    for (std::size_t i = 0; i < cpus.size(); ++i) half[i * 2 / cpus.size()].insert(cpus[i]);
    host.numa = std::vector<NumaNode>{{0, half[0], {}}, {1, half[1], {}}};
    host.gpus = std::vector<Gpu>{{0, "0000:a0:00.0", 0, {}}, {1, "0000:b0:00.0", 1, {}}};
    decision.gpus = {{0, 0, half[0], {}, {}}, {1, 1, half[1], {}, {}}};
    setenv("LOCAL_WORLD_SIZE", "2", 1);
    for (const char* name : {"OMP_PROC_BIND", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"}) unsetenv(name);
  }
  AffinityOutcome bind(const char* gpu, int ranks = 2) {
    AffinityRequest request;
    request.gpu = gpu;
    request.ranks = ranks;
    return bind_for_communicator(host, decision, policy, request);
  }
  bool on(int node) const {
    CpuSet now;
    for (unsigned cpu : allowed_cpus()) now.insert(cpu);
    return now == (*host.numa)[static_cast<std::size_t>(node)].cpus;
  }
  bool everywhere() const { return allowed_cpus() == cpus; }
};

int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}
#define EXPECT(condition) \
  if (!(condition)) return __LINE__ % 254 + 1

bool enough() { return allowed_cpus().size() >= 2; }

}  // namespace

TEST_CASE("bound once, kept by later communicators, taken back for a GPU of another node") {
  if (!enough()) {
    WARN("one CPU: not tested here");
    return;
  }
  CHECK(in_child([]() -> int {
          TwoNodes two;
          EXPECT(two.bind("0000:b0:00.0").reason == "bind-process");
          EXPECT(two.on(1));
          EXPECT(two.bind("0000:b0:00.0").reason == "already-bound");
          EXPECT(two.on(1));
          const AffinityOutcome undone = two.bind("0000:a0:00.0");
          EXPECT(undone.reason == "undone");
          EXPECT(two.everywhere());
          EXPECT(two.bind("0000:b0:00.0").reason == "several-nodes");
          EXPECT(two.everywhere());
          return 0;
        }) == 0);
}

TEST_CASE("asked for, the process gets the CPUs of all its GPUs") {
  if (!enough()) {
    WARN("one CPU: not tested here");
    return;
  }
  CHECK(in_child([]() -> int {
          TwoNodes two;
          two.policy.affinity = AffinityMode::process;
          EXPECT(two.bind("0000:a0:00.0").reason == "bind-process");
          EXPECT(two.on(0));
          const AffinityOutcome both = two.bind("0000:b0:00.0");
          EXPECT(both.reason == "undone");
          EXPECT(both.text.find("nothing-to-narrow") != std::string::npos);
          EXPECT(two.everywhere());
          return 0;
        }) == 0);
}

TEST_CASE("the outcome names the mask before, the mask after, and why") {
  if (!enough()) {
    WARN("one CPU: not tested here");
    return;
  }
  CHECK(in_child([]() -> int {
          TwoNodes two;
          const std::string before = ((*two.host.numa)[0].cpus | (*two.host.numa)[1].cpus).text();
          const std::string after = (*two.host.numa)[0].cpus.text();
          const AffinityOutcome outcome = two.bind("0000:a0:00.0");
          EXPECT(outcome.text.find(before + " -> " + after) != std::string::npos);
          EXPECT(outcome.text.find("NUMA node 0") != std::string::npos);
          return 0;
        }) == 0);
}

TEST_CASE("the job's own taskset, after ours or before it, is respected") {
  if (!enough()) {
    WARN("one CPU: not tested here");
    return;
  }
  CHECK(in_child([]() -> int {
          TwoNodes two;
          cpu_set_t set;
          CPU_ZERO(&set);
          CPU_SET(two.cpus.front(), &set);
          sched_setaffinity(0, sizeof set, &set);
          EXPECT(two.bind("0000:a0:00.0").reason == "mask-narrowed" || two.cpus.size() == 1);
          EXPECT(allowed_cpus() == std::vector<unsigned>{two.cpus.front()});
          EXPECT(two.bind("0000:b0:00.0").reason == "affinity-empty");
          EXPECT(allowed_cpus() == std::vector<unsigned>{two.cpus.front()});
          return 0;
        }) == 0);
}

TEST_CASE("observe, off, only rank and OpenMP leave the mask") {
  if (!enough()) {
    WARN("one CPU: not tested here");
    return;
  }
  CHECK(in_child([]() -> int {
          TwoNodes two;
          two.policy.mode = Mode::observe;
          EXPECT(two.bind("0000:a0:00.0").reason == "observe");
          two.policy.mode = Mode::off;
          EXPECT(two.bind("0000:a0:00.0").reason == "affinity-off");
          two.policy.mode = Mode::enforce;
          two.policy.affinity = AffinityMode::off;
          EXPECT(two.bind("0000:a0:00.0").reason == "affinity-off");
          two.policy.affinity = AffinityMode::automatic;
          setenv("LOCAL_WORLD_SIZE", "1", 1);
          EXPECT(two.bind("0000:a0:00.0").reason == "only-rank");
          setenv("LOCAL_WORLD_SIZE", "2", 1);
          setenv("OMP_PROC_BIND", "spread", 1);
          EXPECT(two.bind("0000:a0:00.0").reason == "openmp-bound");
          EXPECT(two.everywhere());
          unsetenv("OMP_PROC_BIND");
          EXPECT(two.bind("0000:a0:00.0").bound);
          return 0;
        }) == 0);
}

TEST_CASE("without a CUDA driver in the process no GPU is known and none is asked for") {
  CHECK_FALSE(current_cuda_device());
  if (!enough()) {
    WARN("one CPU: not tested here");
    return;
  }
  CHECK(in_child([]() -> int {
          TwoNodes two;
          EXPECT(bind_for_communicator(two.host, two.decision, two.policy, {}).reason == "gpu-unknown");
          EXPECT(two.everywhere());
          return 0;
        }) == 0);
}
