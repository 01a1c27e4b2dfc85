// SPDX-License-Identifier: Apache-2.0
// Hosts that no machine has but a broken record may: nothing crashes, every device is judged once.
#include <catch2/catch.hpp>
#include <set>

#include "build.h"

using namespace test;

TEST_CASE("nothing at all") {
  HostSnapshot host;
  CHECK(hcas(host).hcas.empty());
  CHECK_FALSE(hcas(host).rdma_hardware);
  CHECK(hcas(host).idle_cause.empty());
  host.rdma.emplace();
  CHECK(hcas(host).devices.empty());
  CHECK(choose_gpus(host, Topology(host), {}).gpus.empty());
}

TEST_CASE("a device with only a name, and one without a port") {
  HostSnapshot host;
  host.rdma.emplace();
  host.rdma->push_back({});
  host.rdma->back().name = "bare";
  host.rdma->push_back(host.rdma->back());
  host.rdma->back().name = "one";
  host.rdma->back().ports.push_back({});
  const auto result = hcas(host);
  CHECK(result.hcas.empty());
  CHECK(verdict(result, "bare").reason == "no-port");
  CHECK(verdict(result, "one").reason == "link-layer-unknown");
  CHECK_FALSE(result.idle_cause.empty());
}

TEST_CASE("names that occur twice, ports that occur twice") {
  HostSnapshot host;
  ib(host, "mlx5_0");
  host.rdma->push_back(host.rdma->front());
  host.rdma->front().ports.push_back(host.rdma->front().ports.front());
  gpu(host, 0);
  gpu(host, 0);
  const auto result = hcas(host);
  CHECK(result.devices.size() == 1);
  CHECK(choose_gpus(host, Topology(host), result.hcas).gpus.size() == 1);
}

TEST_CASE("a thousand GIDs and a thousand peers") {
  HostSnapshot host;
  for (int card = 0; card < 8; ++card) {
    const auto number = std::to_string(card);
    auto& port = roce(host, "mlx5_" + number, "e" + number, "10." + number + ".0.1");
    for (int i = 4; i < 1000; ++i)
      port.gids->push_back(gid(i, "10." + number + ".1." + std::to_string(i % 250 + 1), "RoCE v2", "e" + number));
    for (auto& entry : *port.gids)
      if (entry.index > 500) entry.type.reset();
  }
  for (int i = 0; i < 1000; ++i)
    host.peers.push_back(*IpAddress::parse("10.9." + std::to_string(i / 250) + "." + std::to_string(i % 250 + 1)));
  for (const char* release : {"2.18.6", "2.30.7"}) {
    host.nccl_version = release;
    const auto result = hcas(host);
    CHECK(result.hcas.size() == 8);
    CHECK(result.hcas.front().gid_index == 3);
  }
}

TEST_CASE("256 virtual functions") {
  HostSnapshot host;
  for (int i = 0; i < 256; ++i) {
    const auto number = std::to_string(i);
    roce(host, "mlx5_" + number, "e" + number, "10.0." + number + ".1");
    device(host, "mlx5_" + number).pci = "0000:05:" + std::to_string(10 + i / 8) + "." + std::to_string(i % 8);
    device(host, "mlx5_" + number).physfn = "0000:05:00.0";
  }
  for (int i = 0; i < 16; ++i) gpu(host, i, i / 8);
  CHECK(hcas(host).hcas.size() == 32);
  CHECK(hcas(host).devices.size() == 256);
}

TEST_CASE("absurd numbers") {
  HostSnapshot host;
  auto& port = roce(host, "mlx5_0", "e0", "10.0.0.1");
  port.port = -5;
  port.rate_gbps = -1;
  port.gids->push_back(gid(-3, "10.0.0.2", "RoCE v2", "e0"));
  port.gids->push_back(gid(2000000000, "10.0.0.3", "RoCE v2", "e0"));
  port.gids->push_back(gid(3, "10.0.0.4", "RoCE v2", "e0"));
  host.env["NCCL_IB_GID_INDEX"] = "99999999999999999999";
  CHECK_NOTHROW(hcas(host));
  host.env["NCCL_IB_GID_INDEX"] = "9000000000";
  CHECK_NOTHROW(hcas(host));
  host.env["NCCL_IB_GID_INDEX"] = "three";
  CHECK_NOTHROW(hcas(host));
  gpu(host, -1, -7).pci = "";
  host.paths = std::vector<GpuPath>{{99, "nothing", PathClass::PIX}};
  host.numa = std::vector<NumaNode>{{-4, {}, {}}};
  CHECK_NOTHROW(choose_gpus(host, Topology(host), hcas(host).hcas));
}
