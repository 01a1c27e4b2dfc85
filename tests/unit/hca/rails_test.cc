// SPDX-License-Identifier: Apache-2.0
// A RoCE rail that lacks nothing but an address is warned of; ports that are left out for another reason are not.
#include <catch2/catch.hpp>

#include "build.h"

using namespace test;

namespace {

HostSnapshot rails(const std::string& last = "") {
  HostSnapshot host;
  const std::string addresses[] = {"10.0.0.1", "10.1.0.1", "10.2.0.1", last};
  for (int i = 0; i < 4; ++i) {
    const auto number = std::to_string(i);
    roce(host, "mlx5_" + number, "r" + number, addresses[i]);
    device(host, "mlx5_" + number).pci = "0000:" + number + "b:00.0";
  }
  return host;
}

/// "severity device" of each gid-link-local.
std::string said(const HostSnapshot& host, const Policy& policy = {}) {
  std::string text;
  for (const auto& finding : hcas(host, policy).use_findings)
    if (finding.code == "gid-link-local")
      text += (text.empty() ? "" : ", ") + std::string(severity_name(finding.severity)) + " " + finding.device;
  return text;
}

}  // namespace

TEST_CASE("a rail that lost its address") {
  CHECK(said(rails("10.3.0.1")).empty());
  auto host = rails();
  CHECK(said(host) == "warning mlx5_3");
  for (const auto& finding : hcas(host).use_findings)
    if (finding.code == "gid-link-local") {
      CHECK_THAT(finding.message, Catch::Contains("r3"));
      CHECK_THAT(finding.remedy, Catch::Contains("r3"));
    }
  SECTION("slower, as storage and management often are") {
    device(host, "mlx5_3").ports[0].rate_gbps = 100;
    CHECK(said(host).empty());
  }
  SECTION("of the other link layer") {
    ib(host, "mlx5_4");
    CHECK(said(host) == "warning mlx5_3");
    for (const auto* more : {"mlx5_5", "mlx5_6", "mlx5_7"}) ib(host, more);
    CHECK(said(host).empty());
  }
  SECTION("not active") {
    device(host, "mlx5_3").ports[0].state = "DOWN";
    CHECK(said(host).empty());
  }
  SECTION("excluded on purpose") {
    Policy policy;
    policy.exclude = {{Selector::By::name, "mlx5_3", {}}};
    CHECK(said(host, policy).empty());
  }
  SECTION("part of a bridge or bond") {
    host.links->back().master = "br0";
    CHECK(said(host).empty());
  }
  SECTION("the second port of a card, unless cards are used with two") {
    device(host, "mlx5_3").pci = "0000:2b:00.1";
    CHECK(said(host).empty());
    device(host, "mlx5_1").pci = "0000:0b:00.1";
    CHECK(said(host) == "warning mlx5_3");
  }
  SECTION("the user's list decides") {
    host.env["NCCL_IB_HCA"] = "mlx5_0,mlx5_1,mlx5_2";
    CHECK(said(host).empty());
  }
}

TEST_CASE("no rail has an address") {
  HostSnapshot host;
  roce(host, "mlx5_0", "r0", "");
  CHECK(said(host) == "info mlx5_0");
  roce(host, "mlx5_1", "r1", "");
  CHECK(said(host) == "info ");
  host.links->back().master = "br0";
  CHECK(said(host).empty());
}
