// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "document/document.h"

using namespace topoguard;

TEST_CASE("a decision is written as the specification has it") {
  Decision decision;
  decision.transport = Transport::ib;
  decision.socket.ifnames = {"bond0"};
  decision.socket.family = Family::inet;
  decision.socket.addresses["bond0"] = *IpAddress::parse("10.0.0.11");
  HcaChoice roce;
  roce.name = "mlx5_0";
  roce.link_layer = "Ethernet";
  roce.gid_index = 3;
  roce.gid = Gid::parse("::ffff:10.0.0.11");
  roce.netdev = "eth1";
  roce.rate_gbps = 200;
  roce.numa_node = 0;
  HcaChoice infiniband;
  infiniband.name = "mlx5_1";
  infiniband.port = 2;
  infiniband.link_layer = "InfiniBand";
  decision.hcas = {roce, infiniband};
  decision.env["NCCL_SOCKET_IFNAME"] = "=bond0";
  GpuChoice gpu;
  gpu.cpus = *CpuSet::parse("0-31");
  gpu.nearest = {"mlx5_0"};
  gpu.path = PathClass::PIX;
  decision.gpus = {gpu};
  decision.devices = {{DeviceKind::netdev, "docker0", Verdict::rejected, "virtual-bridge", "a bridge"}};
  decision.findings = {{Severity::warning, "gid-pin-stale", "mlx5_0", "m", "r"},
                       {Severity::info, "virtual-only", "", "m", "r"}};

  const auto expected = nlohmann::json::parse(R"({
    "schema": "topoguard.decision/1", "transport": "IB",
    "socket": {"ifnames": ["bond0"], "family": "AF_INET", "addresses": {"bond0": "10.0.0.11"}},
    "ib": {"hcas": [
      {"name": "mlx5_0", "port": 1, "link_layer": "Ethernet", "gid_index": 3, "gid": "::ffff:10.0.0.11", "netdev": "eth1", "rate_gbps": 200, "numa_node": 0},
      {"name": "mlx5_1", "port": 2, "link_layer": "InfiniBand", "gid_index": null}]},
    "env": {"NCCL_SOCKET_IFNAME": "=bond0"},
    "gpus": [{"gpu": 0, "cpus": "0-31", "nearest": ["mlx5_0"], "path": "PIX"}],
    "devices": [{"kind": "netdev", "name": "docker0", "verdict": "rejected", "reason": "virtual-bridge", "detail": "a bridge"}],
    "findings": [{"severity": "warning", "code": "gid-pin-stale", "device": "mlx5_0", "message": "m", "remedy": "r"},
                 {"severity": "info", "code": "virtual-only", "message": "m", "remedy": "r"}]})");
  CHECK(nlohmann::json::parse(write_decision(decision)) == expected);
  CHECK(nlohmann::json::parse(write_decision(decision, Layout::line)) == expected);
}

TEST_CASE("an empty decision still has every list") {
  const auto written = nlohmann::json::parse(write_decision(Decision()));
  CHECK(written["transport"] == "none");
  for (const char* list : {"gpus", "devices", "findings"}) CHECK(written[list] == nlohmann::json::array());
  CHECK(written["ib"]["hcas"] == nlohmann::json::array());
  CHECK(written["env"] == nlohmann::json::object());
}
