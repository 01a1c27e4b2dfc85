// SPDX-License-Identifier: Apache-2.0
// What NCCL is told about GIDs, by release: nothing where it lands right by itself.
#include <catch2/catch.hpp>

#include "build.h"

using namespace test;

namespace {

std::string indexes(const HcaResult& result) {
  std::string text;
  for (const auto& hca : result.hcas)
    text += (text.empty() ? "" : " ") + (hca.gid_index ? std::to_string(*hca.gid_index) : std::string("-"));
  return text;
}

HcaResult on(HostSnapshot host, const std::string& release) {
  host.nccl_version = release;
  return hcas(host);
}

const std::vector<std::string> kSearching{"2.21.5", "2.22.3", "2.25.1", "2.26.2", "2.28.9", "2.29.7", "2.30.7"};
const std::vector<std::string> kFixed{"2.18.3", "2.19.3", "2.20.5"};

}  // namespace

TEST_CASE("regular tables: an index up to 2.20, nothing later") {
  HostSnapshot host;
  roce(host, "mlx5_0", "e0", "10.0.0.1");
  roce(host, "mlx5_1", "e1", "10.0.1.1");
  for (const auto& release : kFixed) {
    CHECK(env(on(host, release).env) == "NCCL_IB_GID_INDEX=3");
    CHECK(indexes(on(host, release)) == "3 3");
  }
  for (const auto& release : kSearching) {
    CHECK(env(on(host, release).env).empty());
    CHECK(indexes(on(host, release)) == "3 3");
  }
}

TEST_CASE("indexes differ from card to card") {
  HostSnapshot host;
  roce(host, "mlx5_0", "e0", "10.0.0.1");
  roce(host, "mlx5_1", "e1", "10.0.1.1", 200, 2);
  roce(host, "mlx5_2", "e2", "10.0.2.1", 200, 2);
  for (const auto& release : kSearching) {
    const auto result = on(host, release);
    CHECK(env(result.env).empty());
    CHECK(indexes(result) == "3 5 5");
  }
  // One number for all: the two that agree go on, and the third is named.
  for (const auto& release : kFixed) {
    const auto result = on(host, release);
    CHECK(chosen(result) == "mlx5_1:1 mlx5_2:1");
    CHECK(env(result.env) == "NCCL_IB_GID_INDEX=5 NCCL_IB_HCA==mlx5_1:1,mlx5_2:1");
    CHECK(verdict(result, "mlx5_0").reason == "gid-not-steerable");
    CHECK(codes(result.use_findings) == "gid-not-steerable");
  }
}

TEST_CASE("IPv6 only") {
  HostSnapshot host;
  roce(host, "bnxt_re0", "e0", "fd00::1");
  for (const auto& release : kSearching) {
    const auto result = on(host, release);
    CHECK(env(result.env) == "NCCL_IB_ADDR_FAMILY=AF_INET6");
    CHECK(indexes(result) == "3");
  }
  for (const auto& release : kFixed) CHECK(env(on(host, release).env) == "NCCL_IB_GID_INDEX=3");
}

TEST_CASE("IPv6 only in a pod, where reading an empty entry's type fails the search") {
  HostSnapshot host;
  roce(host, "mlx5_0", "net1", "fd00::1", 200, 4);
  CHECK(env(on(host, "2.25.1").env) == "NCCL_IB_GID_INDEX=7");
  CHECK(env(on(host, "2.26.2").env) == "NCCL_IB_ADDR_FAMILY=AF_INET6");
}

TEST_CASE("one card has IPv4 and IPv6, the other IPv6 only: the family that both have") {
  HostSnapshot host;
  auto& both = roce(host, "mlx5_0", "e0", "10.0.0.1");
  host.links->back().addr_info.push_back({*IpAddress::parse("fd00::1"), 64, "global", {}, {}});
  both.gids->push_back(gid(4, "fd00::1", "IB/RoCE v1", "e0"));
  both.gids->push_back(gid(5, "fd00::1", "RoCE v2", "e0"));
  roce(host, "mlx5_1", "e1", "fd01::1");
  const auto result = on(host, "2.28.9");
  CHECK(env(result.env) == "NCCL_IB_ADDR_FAMILY=AF_INET6");
  CHECK(indexes(result) == "5 3");
  CHECK(codes(result.use_findings).empty());
}

TEST_CASE("the address of the peers' subnet, by a range") {
  HostSnapshot host;
  auto& port = roce(host, "mlx5_0", "e0", "10.0.0.1");
  host.links->back().addr_info.push_back({*IpAddress::parse("10.7.0.1"), 24, "global", {}, {}});
  port.gids->push_back(gid(4, "10.7.0.1", "IB/RoCE v1", "e0"));
  port.gids->push_back(gid(5, "10.7.0.1", "RoCE v2", "e0"));
  host.peers = {*IpAddress::parse("10.7.0.2")};
  for (const auto& release : kSearching) {
    const auto result = on(host, release);
    CHECK(env(result.env) == "NCCL_IB_ADDR_RANGE=10.7.0.0/24");
    CHECK(indexes(result) == "5");
  }
}

TEST_CASE("equal addresses: only an index tells them apart") {
  HostSnapshot host;
  auto& port = roce(host, "mlx5_0", "e0", "10.0.0.1");
  auto twin = link(9, "macvlan0", "10.0.0.1");
  twin.kind = "macvlan";
  twin.lower = "e0";
  twin.parentbus.reset();
  host.links->push_back(twin);
  (*port.gids)[3].ndev = "macvlan0";
  port.gids->push_back(gid(7, "10.0.0.1", "RoCE v2", "e0"));
  const auto result = on(host, "2.28.9");
  CHECK(indexes(result) == "7");
  CHECK(env(result.env) == "NCCL_IB_GID_INDEX=7");
}

TEST_CASE("RoCE v1 alone is found without help") {
  HostSnapshot host;
  auto& port = roce(host, "mlx4_0", "e0", "10.0.0.1");
  port.gids = std::vector<GidEntry>{gid(0, "fe80::1", "IB/RoCE v1", "e0"), gid(1, "10.0.0.1", "IB/RoCE v1", "e0")};
  CHECK(env(on(host, "2.28.9").env).empty());
  CHECK(indexes(on(host, "2.28.9")) == "1");
}

TEST_CASE("the user's pin stands, stale or not") {
  HostSnapshot host;
  roce(host, "mlx5_0", "e0", "10.0.0.1");
  roce(host, "mlx5_1", "e1", "10.0.1.1", 200, 2);
  for (const char* release : {"2.18.3", "2.21.5", "2.30.7"}) {
    host.env["NCCL_IB_GID_INDEX"] = "3";
    auto result = on(host, release);
    CHECK(env(result.env).empty());
    CHECK(indexes(result) == "3 3");
    CHECK(codes(result.use_findings) == "gid-pin-stale");
    CHECK(result.use_findings.front().device == "mlx5_1");
    CHECK(result.use_findings.front().message.find("index 5") != std::string::npos);
    host.env["NCCL_IB_GID_INDEX"] = "900";
    result = on(host, release);
    CHECK(codes(result.use_findings) == "gid-pin-stale gid-pin-stale");
    CHECK_FALSE(result.hcas.front().gid);
  }
  host.env["NCCL_IB_GID_INDEX"] = "";
  CHECK(env(on(host, "2.28.9").env).empty());
  CHECK(on(host, "2.28.9").use_findings.empty());
  // Set and empty is still the user's: nothing is put in its place, and what cannot be reached is said.
  const auto fixed = on(host, "2.18.3");
  CHECK(fixed.env.count("NCCL_IB_GID_INDEX") == 0);
  CHECK(codes(fixed.use_findings) == "gid-not-steerable gid-not-steerable");
}

TEST_CASE("what the user says of GIDs is obeyed: no index overrules it, and what is wrong with it is said") {
  HostSnapshot host;
  roce(host, "mlx5_0", "e0", "10.0.0.1");
  host.env["NCCL_IB_ADDR_FAMILY"] = "AF_INET6";
  const auto result = on(host, "2.28.9");
  CHECK(chosen(result) == "mlx5_0:1");
  CHECK(result.env.empty());
  CHECK(codes(result.use_findings) == "gid-not-steerable");
  CHECK(result.use_findings.front().remedy.find("NCCL_IB_ADDR_FAMILY=AF_INET6") != std::string::npos);

  // The whole cluster may be on RoCE v1 by this.
  host.env = {{"NCCL_IB_ROCE_VERSION_NUM", "1"}};
  const auto old = on(host, "2.28.9");
  CHECK(old.env.empty());
  CHECK(indexes(old) == "2");
  CHECK(codes(old.use_findings) == "gid-not-steerable");

  // Releases that read none of these are led by an index.
  CHECK(env(on(host, "2.18.3").env) == "NCCL_IB_GID_INDEX=3");
}

TEST_CASE("InfiniBand needs no GID, unless it is routed") {
  HostSnapshot host;
  auto& port = ib(host, "mlx5_0");
  for (const auto& release : kFixed) CHECK(indexes(on(host, release)) == "-");
  CHECK(on(host, "2.18.3").env.empty());
  port.gids->push_back(gid(1, "fec0:0:7::2", "IB/RoCE v1", ""));
  CHECK(indexes(on(host, "2.22.3")) == "1");
  CHECK(indexes(on(host, "2.21.5")) == "-");
}
