// SPDX-License-Identifier: Apache-2.0
#include "nccl_rules/variables.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace topoguard;

TEST_CASE("the table is sorted, without doubles, and each row has its place") {
  const auto& table = nccl_variables();
  CHECK(table.size() > 250);
  CHECK(std::is_sorted(table.begin(), table.end(), [](const auto& a, const auto& b) { return a.name <= b.name; }));
  for (const auto& row : table) {
    INFO(row.name);
    CHECK(row.name.substr(0, 5) == "NCCL_");
    CHECK((row.since <= row.until || row.until == kNewestNccl));  // still read, by later releases alone
    CHECK(!row.file.empty());
  }
}

TEST_CASE("what a release reads") {
  const auto status = [](const char* name, NcclRelease release) { return judge_name(name, release).status; };
  constexpr NcclRelease k219{2, 19, 3}, k2289{2, 28, 9};
  for (const auto* name : {"NCCL_SOCKET_IFNAME", "NCCL_IB_HCA", "NCCL_DEBUG", "NCCL_P2P_LEVEL", "NCCL_IB_GID_INDEX",
                           "NCCL_NET", "NCCL_ALGO", "NCCL_CROSS_NIC", "NCCL_IGNORE_CPU_AFFINITY", "NCCL_IB_TIMEOUT"}) {
    INFO(name);
    CHECK(status(name, k219) == NameStatus::read);
    CHECK(status(name, k2289) == NameStatus::read);
  }
  CHECK(status("NCCL_ENV_PLUGIN", k219) == NameStatus::newer);
  CHECK(status("NCCL_IB_ROCE_VERSION_NUM", k219) == NameStatus::newer);
  CHECK(status("NCCL_IB_ROCE_VERSION_NUM", {2, 21, 5}) == NameStatus::read);
  CHECK(status("NCCL_LL_THRESHOLD", k2289) == NameStatus::retired);
  CHECK(status("NCCL_IB_CUDA_SUPPORT", k2289) == NameStatus::retired);
  CHECK(status("NCCL_TREE_THRESHOLD", k2289) == NameStatus::retired);
  CHECK(status("NCCL_BLOCKING_WAIT", k2289) == NameStatus::pytorch);
  CHECK(judge_name("NCCL_ASYNC_ERROR_HANDLING", k2289).likely == "TORCH_NCCL_ASYNC_ERROR_HANDLING");
  for (const auto* name : {"NCCL_VERSION", "NCCL_TESTS_SPLIT", "NCCL_UCX_TLS", "NCCL_IBEXT_DISABLE", "NCCL_HOME"})
    CHECK(status(name, k2289) == NameStatus::foreign);
  // A release after our newest reads what that one reads.
  CHECK(status("NCCL_SOCKET_IFNAME", {2, 40, 1}) == NameStatus::read);
  // It may read more, too: nothing is said about what this table does not have.
  CHECK(status("NCCL_ENTIRELY_NEW_THING", {2, 32, 3}) == NameStatus::foreign);
  CHECK(status("NCCL_ENTIRELY_NEW_THING", k2289) == NameStatus::unknown);
  CHECK(status("NCCL_IB_EVENT_BASED_LB", {2, 31, 2}) == NameStatus::read);
  CHECK(status("NCCL_IB_EVENT_BASED_LB", {2, 30, 7}) == NameStatus::newer);
}

TEST_CASE("misspelt names and the ones meant") {
  const auto likely = [](const char* name) { return judge_name(name, {2, 28, 9}).likely; };
  CHECK(likely("NCCL_SOCKET_IFNAMES") == "NCCL_SOCKET_IFNAME");
  CHECK(likely("NCCL_SOCKET_IFANME") == "NCCL_SOCKET_IFNAME");
  CHECK(likely("NCCL_SOCKET_INTERFACE") == "");
  CHECK(likely("NCCL_IB_HCAS") == "NCCL_IB_HCA");
  CHECK(likely("NCCL_IB_GIDINDEX") == "NCCL_IB_GID_INDEX");
  CHECK(likely("NCCL_IB_GID_IDX") == "NCCL_IB_GID_INDEX");
  CHECK(likely("NCCL_IFNAME_SOCKET") == "NCCL_SOCKET_IFNAME");
  CHECK(likely("NCCL_DISABLE_IB") == "NCCL_IB_DISABLE");
  CHECK(likely("NCCL_DEBUG_SUBSYSTEM") == "NCCL_DEBUG_SUBSYS");
  CHECK(likely("NCCL_P2P_DISABLED") == "NCCL_P2P_DISABLE");
  CHECK(likely("NCCL_WHATEVER_THIS_IS") == "");
  CHECK(judge_name(std::string(100000, 'X'), {2, 28, 9}).status == NameStatus::unknown);
}
