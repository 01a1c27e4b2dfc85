// SPDX-License-Identifier: Apache-2.0
// Every row of the affinity policy, on a host of two NUMA nodes with the GPU on the second.
#include "affinity/plan.h"

#include <catch2/catch.hpp>
#include <set>

using namespace topoguard;

namespace {

CpuSet cpus(const char* list) { return *CpuSet::parse(list); }

AffinityFacts ordinary() {
  AffinityFacts f;
  f.online = f.allowed = cpus("0-127");
  f.gpu = "0000:81:00.0";
  f.gpu_node = 1;
  f.gpu_cpus = cpus("32-63,96-127");
  f.cpu_nodes = 2;
  f.local_ranks = 8;
  return f;
}

void left(const AffinityFacts& facts, const char* reason) {
  const AffinityPlan result = plan(facts);
  INFO(result.detail);
  CHECK(result.action == AffinityAction::leave);
  CHECK(result.reason == reason);
  CHECK(result.cpus.empty());
  CHECK_FALSE(result.detail.empty());
}

}  // namespace

TEST_CASE("an ordinary rank among several is bound to its GPU's CPUs") {
  const AffinityPlan result = plan(ordinary());
  CHECK(result.action == AffinityAction::bind_process);
  CHECK(result.cpus.text() == "32-63,96-127");
  CHECK(result.detail == "GPU 0000:81:00.0 is on NUMA node 1");
}

TEST_CASE("auto leaves alone, one row each") {
  AffinityFacts f = ordinary();
  SECTION("off") {
    f.affinity = AffinityMode::off;
    left(f, "affinity-off");
  }
  SECTION("mode off") {
    f.mode = Mode::off;
    left(f, "affinity-off");
  }
  SECTION("mask unknown") {
    f.allowed.reset();
    left(f, "mask-unknown");
  }
  SECTION("no current CUDA context") {
    f.gpu.clear();
    left(f, "gpu-unknown");
  }
  SECTION("empty intersection") {
    f.gpu_cpus = CpuSet();
    f.gpu_cpus_elsewhere = true;
    left(f, "affinity-empty");
  }
  SECTION("empty intersection with what the main thread has by now") {
    f.allowed = cpus("0-7");
    left(f, "affinity-empty");
  }
  SECTION("node unknown") {
    f.gpu_cpus = CpuSet();
    left(f, "numa-unknown");
  }
  SECTION("online unknown") {
    f.online.reset();
    left(f, "online-unknown");
  }
  SECTION("taskset or a cpuset before us, across nodes") {
    f.allowed = cpus("0-100");
    left(f, "mask-narrowed");
  }
  SECTION("taskset to the GPU's own CPUs") {
    f.allowed = cpus("32-40");
    left(f, "mask-narrowed");
  }
  SECTION("OpenMP binds") {
    f.openmp = "OMP_PROC_BIND=close";
    left(f, "openmp-bound");
  }
  SECTION("GPUs of several nodes") {
    f.other_gpu_cpus = {cpus("0-31,64-95")};
    left(f, "several-nodes");
  }
  SECTION("the only rank") {
    f.local_ranks = 1;
    left(f, "only-rank");
  }
  SECTION("nobody knows how many ranks") {
    f.local_ranks.reset();
    left(f, "ranks-unknown");
  }
  SECTION("observe") {
    f.mode = Mode::observe;
    left(f, "observe");
    CHECK(plan(f).detail.find("32-63,96-127") != std::string::npos);
  }
}

TEST_CASE("a host of one node has nothing to narrow") {
  AffinityFacts f = ordinary();
  f.gpu_cpus = *f.online;
  f.cpu_nodes = 1;
  f.local_ranks = 1;
  left(f, "nothing-to-narrow");
}

TEST_CASE("several GPUs of one node are no reason to leave alone") {
  AffinityFacts f = ordinary();
  f.other_gpu_cpus = {f.gpu_cpus, f.gpu_cpus};
  CHECK(plan(f).action == AffinityAction::bind_process);
}

TEST_CASE("asked for by name, process and thread bind where auto would not") {
  AffinityFacts f = ordinary();
  f.allowed = cpus("30-40");
  f.local_ranks = 1;
  f.openmp = "KMP_AFFINITY=compact";
  f.other_gpu_cpus = {cpus("0-31,64-95")};
  f.affinity = AffinityMode::thread;
  CHECK(plan(f).action == AffinityAction::bind_thread);
  CHECK(plan(f).cpus.text() == "32-40");
  f.affinity = AffinityMode::process;  // every GPU that the process uses keeps its CPUs
  left(f, "nothing-to-narrow");
  f.other_gpu_cpus.clear();
  CHECK(plan(f).action == AffinityAction::bind_process);
  CHECK(plan(f).cpus.text() == "32-40");
}

TEST_CASE("never wider than allowed, never empty, for any mask") {
  const std::vector<const char*> masks = {"0", "31", "32", "0-127", "31-32", "96-127", "64-96", "127", "0-31,64-95"};
  for (const char* allowed : masks)
    for (const char* gpu : masks)
      for (const char* other : masks)
        for (const AffinityMode mode : {AffinityMode::automatic, AffinityMode::process, AffinityMode::thread}) {
          AffinityFacts f = ordinary();
          f.affinity = mode;
          f.allowed = cpus(allowed);
          f.gpu_cpus = cpus(gpu);
          f.other_gpu_cpus = {cpus(other)};
          const AffinityPlan result = plan(f);
          if (result.action == AffinityAction::leave) {
            CHECK(result.cpus.empty());
          } else {
            CHECK_FALSE(result.cpus.empty());
            CHECK(result.cpus.is_subset_of(*f.allowed));
            CHECK_FALSE(result.cpus == *f.allowed);
          }
        }
}

TEST_CASE("reasons are listed once each") {
  const auto reasons = affinity_reasons();
  CHECK(std::set<std::string>(reasons.begin(), reasons.end()).size() == reasons.size());
  CHECK(reasons.size() == 15);
}
