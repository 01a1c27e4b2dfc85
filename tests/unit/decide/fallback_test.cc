// SPDX-License-Identifier: Apache-2.0
// slow-fallback names the first broken link, of the device that comes farthest.
#include "decide/fallback.h"

#include "decide/findings.h"
#include "hosts.h"

using test::Host;
using namespace topoguard;

namespace {

Host plain() {
  Host host;
  host.nic("eno1", {"10.0.0.11/24"}, 25000);
  host.route("default", "eno1", "10.0.0.1");
  return host;
}

const Finding& the(const Decision& decision, std::string_view code) {
  for (const auto& finding : decision.findings)
    if (finding.code == code) return finding;
  FAIL("no finding " << code);
  throw 0;
}

/// What breaks a healthy InfiniBand HCA, and what is then said.
struct Broken {
  const char* id;
  void (*how)(Host& host, RdmaDevice& hca);
  const char* says;
};

const Broken kBroken[] = {
    {"user-setting", [](Host& host, RdmaDevice&) { host.snapshot.env["NCCL_IB_DISABLE"] = "1"; }, "NCCL_IB_DISABLE=1"},
    {"user-setting", [](Host& host, RdmaDevice&) { host.snapshot.env["NCCL_NET"] = "Socket"; }, "NCCL_NET=Socket"},
    {"own-plugin", [](Host&, RdmaDevice& hca) { hca.driver = "efa"; }, "aws-ofi-nccl"},
    {"unopenable",
     [](Host& host, RdmaDevice& hca) {
       hca.usable = false;
       host.snapshot.notes = {"verbs: mlx5_0: /dev/infiniband/uverbs0 does not open (Permission denied)"};
     },
     "Permission denied"},
    {"no-port", [](Host&, RdmaDevice& hca) { hca.ports.clear(); }, "lists no port"},
    {"port-down", [](Host&, RdmaDevice& hca) { hca.ports[0].state = "DOWN"; }, "mlx5_0:1 is DOWN"},
    {"subnet-manager-missing", [](Host&, RdmaDevice& hca) { hca.ports[0].state = "INIT"; }, "subnet manager"},
    {"link-layer-unknown", [](Host&, RdmaDevice& hca) { hca.ports[0].link_layer = "Unknown"; }, "neither InfiniBand"},
    {"gid-missing",
     [](Host&, RdmaDevice& hca) {
       hca.ports[0].link_layer = "Ethernet";
       hca.ports[0].gids.emplace();
     },
     "no usable GID"},
    {"not-listed", [](Host& host, RdmaDevice&) { host.snapshot.env["NCCL_IB_HCA"] = "=mlx9_0"; },
     "NCCL_IB_HCA==mlx9_0"},
};

}  // namespace

TEST_CASE("each broken link has its name, its words and its remedy") {
  std::vector<std::string> seen;
  for (const auto& broken : kBroken) {
    CAPTURE(broken.id, broken.says);
    auto host = plain();
    broken.how(host, host.hca("mlx5_0"));
    const auto decision = host.decide();
    REQUIRE(decision.transport == Transport::socket);
    CHECK(decision.fallback == broken.id);
    const auto& finding = the(decision, "slow-fallback");
    CHECK_THAT(finding.message, Catch::Contains(broken.says));
    CHECK_FALSE(finding.remedy.empty());
    CHECK(finding.device ==
          (finding.message.find("NCCL_") != std::string::npos && decision.fallback == "user-setting" ? "" : "mlx5_0"));
    host.policy.require_ib = true;
    CHECK_THAT(the(host.decide(), "require-ib-unmet").message, Catch::Contains(broken.says));
    seen.push_back(broken.id);
  }
  // Every row but those that need a history of several NCCL releases or drivers.
  for (const auto& row : fallback_rows())
    if (row.id != "iwarp" && row.id != "gid-not-steerable")
      CHECK(std::find(seen.begin(), seen.end(), row.id) != seen.end());
}

TEST_CASE("of many HCAs the one that comes farthest is named, and how the others stand") {
  auto host = plain();
  host.hca("mlx5_0").usable = false;
  host.hca("mlx5_1").ports[0].state = "DOWN";
  host.hca("mlx5_2").usable = false;
  const auto decision = host.decide();
  CHECK(decision.fallback == "port-down");
  const auto& finding = the(decision, "slow-fallback");
  CHECK(finding.device == "mlx5_1");
  CHECK_THAT(finding.message, Catch::Contains("2 cannot be opened") && Catch::Contains("1 with the port down"));
}

TEST_CASE("no fallback where RDMA is used, or is not there") {
  auto host = plain();
  CHECK(host.decide().fallback.empty());
  host.hca("mlx5_0");
  CHECK(host.decide().fallback.empty());
  auto soft = plain();
  auto& rxe = soft.hca("rxe0");
  rxe.driver = "rdma_rxe";
  rxe.usable = false;
  CHECK(soft.decide().fallback.empty());
}
