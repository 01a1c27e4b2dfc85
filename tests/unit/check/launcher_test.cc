// SPDX-License-Identifier: Apache-2.0
#include "check/launcher.h"

#include <catch2/catch.hpp>
#include <map>

using namespace topoguard::check;

namespace {

using Variables = std::map<std::string, std::string>;

PlacementResult place(const Variables& variables, const LaunchOptions& options = {}) {
  return find_placement(options, [&](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(std::string(name));
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

Placement placed(const Variables& variables, const LaunchOptions& options = {}) {
  const PlacementResult result = place(variables, options);
  INFO(result.error);
  REQUIRE(result.placement);
  return *result.placement;
}

std::string refused(const Variables& variables, const LaunchOptions& options = {}) {
  const PlacementResult result = place(variables, options);
  CHECK_FALSE(result.placement);
  return result.error;
}

const Variables kSlurm = {{"SLURM_JOB_ID", "77"},
                          {"SLURM_STEP_ID", "3"},
                          {"SLURM_PROCID", "9"},
                          {"SLURM_NTASKS", "24"},
                          {"SLURM_LOCALID", "0"},
                          {"SLURM_NODEID", "2"},
                          {"SLURM_STEP_NUM_NODES", "3"},
                          {"SLURM_STEP_NODELIST", "gpu[01-03]"},
                          {"SLURM_JOB_NODELIST", "gpu[01-08]"},
                          {"SLURM_LAUNCH_NODE_IPADDR", "10.9.9.9"}};

}  // namespace

TEST_CASE("RANK and WORLD_SIZE") {
  const Placement plain =
      placed({{"RANK", "2"}, {"WORLD_SIZE", "3"}, {"MASTER_ADDR", "node-a"}, {"MASTER_PORT", "29500"}});
  CHECK(plain.rank == 2);
  CHECK(plain.ranks == 3);
  CHECK(plain.stands_for == 1);
  CHECK(plain.takes_part);
  CHECK(plain.meeting == "node-a");
  CHECK(plain.port == 29501);
  CHECK(plain.job.empty());
}

TEST_CASE("torchrun counts hosts by its groups, and the first of each host takes part") {
  Variables env = {{"RANK", "9"},       {"WORLD_SIZE", "16"},      {"LOCAL_RANK", "1"},  {"LOCAL_WORLD_SIZE", "8"},
                   {"GROUP_RANK", "1"}, {"GROUP_WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"TORCHELASTIC_RUN_ID", "x1"}};
  CHECK_FALSE(placed(env).takes_part);
  env["RANK"] = "8";
  env["LOCAL_RANK"] = "0";
  CHECK(placed(env).takes_part);
  CHECK(placed(env).rank == 1);
  CHECK(placed(env).ranks == 2);
  CHECK(placed(env).job == "torchrun:x1");
  CHECK(placed(env).port == kDefaultPort);
}

TEST_CASE("local ranks without groups: the first stands for all of its host") {
  const Placement first = placed(
      {{"RANK", "8"}, {"WORLD_SIZE", "16"}, {"LOCAL_RANK", "0"}, {"LOCAL_WORLD_SIZE", "8"}, {"MASTER_ADDR", "a"}});
  CHECK(first.takes_part);
  CHECK(first.rank == 8);
  CHECK(first.stands_for == 8);
  CHECK_FALSE(placed({{"OMPI_COMM_WORLD_RANK", "9"},
                      {"OMPI_COMM_WORLD_SIZE", "16"},
                      {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                      {"OMPI_COMM_WORLD_LOCAL_SIZE", "8"},
                      {"MASTER_ADDR", "a"}})
                  .takes_part);
}

TEST_CASE("srun counts hosts, and rank 0 is on the first of the step") {
  const Placement out = placed(kSlurm);
  CHECK(out.rank == 2);
  CHECK(out.ranks == 3);
  CHECK(out.takes_part);
  CHECK(out.meeting == "gpu01");
  CHECK(out.meeting_from == "SLURM_STEP_NODELIST");
  CHECK(out.hosts == std::vector<std::string>{"gpu01", "gpu02", "gpu03"});
  CHECK(out.job == "slurm:77.3");
  CHECK(out.port == kDefaultPort);

  Variables second = kSlurm;
  second["SLURM_LOCALID"] = "4";
  CHECK_FALSE(placed(second).takes_part);

  Variables with_master = kSlurm;
  with_master["MASTER_ADDR"] = "gpu01-ib";
  CHECK(placed(with_master).meeting == "gpu01-ib");
  CHECK(placed(with_master).meeting_from == "MASTER_ADDR");

  Variables tasks = kSlurm;
  tasks.erase("SLURM_NODEID");
  CHECK(placed(tasks).rank == 9);
  CHECK(placed(tasks).ranks == 24);
}

TEST_CASE("mpirun inside a Slurm job is mpirun") {
  Variables env = kSlurm;
  env["OMPI_COMM_WORLD_RANK"] = "1";
  env["OMPI_COMM_WORLD_SIZE"] = "2";
  env["PMIX_NAMESPACE"] = "prterun-1";
  CHECK(refused(env).find("MASTER_ADDR") != std::string::npos);
  const Placement out = placed(env, {"", std::nullopt, "[fd00::1]:4000", std::nullopt, "", ""});
  CHECK(out.launcher == "mpirun");
  CHECK(out.meeting == "fd00::1");
  CHECK(out.port == 4000);
  CHECK(out.job == "pmix:prterun-1");
}

TEST_CASE("a list of hosts") {
  LaunchOptions options;
  options.hosts = "node-[a],node-b,10.0.0.3";
  CHECK(refused({}, options).find("not a list of hosts") != std::string::npos);
  options.hosts = "node-a,node-b.example.org,10.0.0.3";
  options.hostname = "node-b";
  Placement out = placed({{"MASTER_ADDR", "elsewhere"}, {"MASTER_PORT", "1"}}, options);
  CHECK(out.rank == 1);
  CHECK(out.ranks == 3);
  CHECK(out.meeting == "node-a");
  CHECK(out.port == kDefaultPort);
  options.hostname = "node-x";
  CHECK(refused({}, options).find("--rank N") != std::string::npos);
  options.rank = 2;
  options.port = 700;
  out = placed({}, options);
  CHECK(out.rank == 2);
  CHECK(out.port == 700);
  options.rank = 3;
  CHECK(refused({}, options).find("0 to 2") != std::string::npos);
}

TEST_CASE("what cannot be read is said") {
  CHECK(refused({}).find("srun") != std::string::npos);
  CHECK(refused({{"RANK", "3"}, {"WORLD_SIZE", "3"}, {"MASTER_ADDR", "a"}}).find("0 to 2") != std::string::npos);
  CHECK(refused({{"RANK", "1"}, {"WORLD_SIZE", "two"}}).find("WORLD_SIZE=two") != std::string::npos);
  CHECK(refused({{"RANK", "1"}, {"WORLD_SIZE", "2"}}).find("MASTER_ADDR") != std::string::npos);
  CHECK(
      refused({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "x"}}).find("MASTER_PORT=x") !=
      std::string::npos);
  CHECK(placed({{"RANK", "0"}, {"WORLD_SIZE", "2"}}).meeting.empty());
  CHECK(placed({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "65535"}}).port == 65534);
}
