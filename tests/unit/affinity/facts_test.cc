// SPDX-License-Identifier: Apache-2.0
// From documents to facts: which node a PCI id is on, how many ranks share the host, who binds threads already.
#include <catch2/catch.hpp>
#include <map>

#include "affinity/affinity.h"
#include "affinity/cuda_device.h"

using namespace topoguard;

namespace {

EnvLookup env(std::map<std::string, std::string> values) {
  return [values = std::move(values)](std::string_view name) -> std::optional<std::string> {
    const auto found = values.find(std::string(name));
    return found == values.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
}

CpuSet cpus(const char* list) { return *CpuSet::parse(list); }

HostSnapshot two_nodes() {
  HostSnapshot host;
  host.numa = std::vector<NumaNode>{{0, cpus("0-1"), {}}, {1, cpus("2-3"), {}}, {2, CpuSet(), {}}};
  host.gpus = std::vector<Gpu>{{0, "0000:0f:00.0", 0, {}}, {1, "0000:a0:00.0", 1, {}}, {2, "0001:01:00.0", 2, {}}};
  return host;
}

Decision two_nodes_decision() {
  Decision decision;
  decision.gpus = {{0, 0, cpus("0-1"), {}, {}}, {1, 1, CpuSet(), {}, {}}, {2, 2, CpuSet(), {}, {}}};
  return decision;
}

}  // namespace

TEST_CASE("PCI ids are compared in one spelling") {
  CHECK(sysfs_pci_id("00000000:0F:00.0") == "0000:0f:00.0");
  CHECK(sysfs_pci_id("0000:0f:00.0") == "0000:0f:00.0");
  CHECK(sysfs_pci_id("10000:e1:00.1") == "10000:e1:00.1");
  CHECK_FALSE(sysfs_pci_id("0f:00.0"));
  CHECK_FALSE(sysfs_pci_id("0000:0f:00.0x"));
  CHECK_FALSE(sysfs_pci_id(""));
}

TEST_CASE("the GPU's node and CPUs come from snapshot and decision") {
  AffinityRequest request;
  request.gpu = "0000:0F:00.0";
  request.other_gpus = {"0000:a0:00.0", "00000000:0F:00.0"};
  const AffinityFacts facts = affinity_facts(two_nodes(), two_nodes_decision(), Policy{}, request, env({}));
  CHECK(facts.gpu == "0000:0f:00.0");
  CHECK(facts.gpu_node == 0);
  CHECK(facts.gpu_cpus.text() == "0-1");
  CHECK(facts.online->text() == "0-3");
  CHECK(facts.cpu_nodes == 2);          // the node without CPUs is memory
  CHECK(facts.other_gpu_cpus.empty());  // none allowed on the other one, and the GPU itself is no other
  CHECK_FALSE(facts.local_ranks);
}

TEST_CASE("no allowed CPU and no known CPU are told apart") {
  AffinityRequest request;
  request.gpu = "0000:a0:00.0";
  CHECK(affinity_facts(two_nodes(), two_nodes_decision(), Policy{}, request, env({})).gpu_cpus_elsewhere);
  request.gpu = "0001:01:00.0";
  CHECK_FALSE(affinity_facts(two_nodes(), two_nodes_decision(), Policy{}, request, env({})).gpu_cpus_elsewhere);
  request.gpu = "0000:ff:00.0";  // hidden by the platform
  CHECK(affinity_facts(two_nodes(), two_nodes_decision(), Policy{}, request, env({})).gpu_cpus.empty());
}

TEST_CASE("OpenMP's own binding is seen") {
  const auto seen = [](std::map<std::string, std::string> values) {
    return affinity_facts(two_nodes(), {}, Policy{}, {}, env(std::move(values))).openmp;
  };
  CHECK(seen({{"OMP_PROC_BIND", "true"}}) == "OMP_PROC_BIND=true");
  CHECK(seen({{"GOMP_CPU_AFFINITY", "0-3"}}) == "GOMP_CPU_AFFINITY=0-3");
  CHECK(seen({{"KMP_AFFINITY", "granularity=fine"}}) == "KMP_AFFINITY=granularity=fine");
  CHECK(seen({{"OMP_PROC_BIND", "FALSE"}}).empty());
  CHECK(seen({{"KMP_AFFINITY", "disabled"}}).empty());
  CHECK(seen({{"OMP_NUM_THREADS", "4"}}).empty());
}

TEST_CASE("how many ranks share the host") {
  CHECK(local_ranks(env({{"LOCAL_WORLD_SIZE", "8"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}})) == 8);
  CHECK(local_ranks(env({{"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}})) == 4);
  CHECK(local_ranks(env({{"MPI_LOCALNRANKS", "2"}})) == 2);
  CHECK(local_ranks(env({{"SLURM_STEP_TASKS_PER_NODE", "2(x3),1"}, {"SLURM_NODEID", "2"}})) == 2);
  CHECK(local_ranks(env({{"SLURM_STEP_TASKS_PER_NODE", "2(x3),1"}, {"SLURM_NODEID", "3"}})) == 1);
  CHECK(local_ranks(env({{"SLURM_STEP_TASKS_PER_NODE", "8(x64)"}})) == 8);
  CHECK_FALSE(local_ranks(env({{"SLURM_STEP_TASKS_PER_NODE", "8,4"}})));
  CHECK_FALSE(local_ranks(env({{"SLURM_STEP_TASKS_PER_NODE", "8(x"}})));
  CHECK(local_ranks(env({{"WORLD_SIZE", "1"}})) == 1);
  CHECK(local_ranks(env({{"LOCAL_RANK", "0"}})) == 2);  // somebody counts ranks, so there are several
  CHECK(local_ranks(env({{"LOCAL_RANK", "5"}})) == 6);
  CHECK_FALSE(local_ranks(env({{"LOCAL_RANK", "five"}, {"WORLD_SIZE", "16"}})));
  CHECK_FALSE(local_ranks(env({})));
}

TEST_CASE("a communicator of one rank tells where no launcher does") {
  AffinityRequest request;
  request.ranks = 1;
  CHECK(affinity_facts(two_nodes(), {}, Policy{}, request, env({{"LOCAL_WORLD_SIZE", "8"}})).local_ranks == 8);
  CHECK(affinity_facts(two_nodes(), {}, Policy{}, request, env({})).local_ranks == 1);
}

TEST_CASE("the local rank and the variable it came from") {
  CHECK(local_rank(env({{"SLURM_LOCALID", "3"}}))->rank == 3);
  CHECK(local_rank(env({{"SLURM_LOCALID", "0"}, {"LOCAL_RANK", "3"}}))->variable == "LOCAL_RANK");
  CHECK_FALSE(local_rank(env({{"LOCAL_RANK", "-1"}})));
}
