// SPDX-License-Identifier: Apache-2.0
#include "report/log_block.h"

#include <catch2/catch.hpp>

#include "document/printable.h"

using namespace topoguard;

namespace {

Decision socket_decision() {
  Decision decision;
  decision.transport = Transport::socket;
  decision.socket.ifnames = {"eth1"};
  decision.socket.addresses["eth1"] = *IpAddress::parse("10.0.0.11");
  decision.env["NCCL_SOCKET_IFNAME"] = "=eth1";
  decision.devices = {
      {DeviceKind::netdev, "docker0", Verdict::rejected, "virtual-bridge", "a bridge without a device below"},
      {DeviceKind::netdev, "eth1", Verdict::chosen, "fastest", ""}};
  decision.findings = {{Severity::warning, "slow-fallback", "mlx5_0", "data goes over TCP", "Load the driver."}};
  return decision;
}

RunFacts facts() { return {"0.1.0", "/opt/libnccl.so.2", "2.28.9", "net", Way::wrapped, ""}; }

}  // namespace

TEST_CASE("the block says who, where, what, why, in this order") {
  Policy policy;
  policy.mode = Mode::enforce;
  const auto lines = log_block({}, policy, socket_decision(), facts());
  REQUIRE(lines.size() == 6);
  CHECK(lines[0] ==
        "topoguard 0.1.0 in NCCL 2.28.9 (/opt/libnccl.so.2), entered by the net plugin, mode enforce (default)");
  CHECK(lines[1] == "Socket over eth1 (10.0.0.11); NCCL's own transport runs under topoguard");
  CHECK(lines[2] == "chosen netdev eth1: fastest");
  CHECK(lines[3] == "rejected netdev docker0: virtual-bridge (a bridge without a device below)");
  CHECK(lines[4] == "sets NCCL_SOCKET_IFNAME==eth1");
  CHECK(lines[5] == "warning slow-fallback mlx5_0: data goes over TCP; Load the driver.");
}

TEST_CASE("observe and steering say what they do not do, and who set the mode") {
  Policy policy;
  policy.mode = Mode::observe;
  policy.sources["TOPOGUARD_MODE"] = SettingSource::environment;
  RunFacts run = facts();
  run.way = Way::observe;
  auto lines = log_block({}, policy, socket_decision(), run);
  CHECK_THAT(lines[0], Catch::EndsWith("mode observe (from the environment)"));
  CHECK_THAT(lines[1], Catch::Contains("nothing is changed"));
  CHECK(lines[4] == "would set NCCL_SOCKET_IFNAME==eth1");
  run.way = Way::steering;
  run.reason = "the transport tables were not found";
  lines = log_block({}, Policy(), socket_decision(), run);
  CHECK_THAT(lines[1], Catch::EndsWith("is not wrapped: the transport tables were not found"));
  CHECK(lines[4] == "sets NCCL_SOCKET_IFNAME==eth1");
}

TEST_CASE("off is one line") {
  Policy policy;
  policy.mode = Mode::off;
  CHECK(log_block({}, policy, socket_decision(), facts()).size() == 1);
}

TEST_CASE("InfiniBand names ports and the bootstrap") {
  Decision decision = socket_decision();
  decision.transport = Transport::ib;
  decision.hcas.resize(2);
  decision.hcas[0].name = "mlx5_0";
  decision.hcas[1].name = "mlx5_1";
  decision.hcas[1].port = 2;
  decision.env.clear();
  const auto lines = log_block({}, Policy(), decision, facts());
  CHECK_THAT(lines[1], Catch::StartsWith("IB over mlx5_0:1, mlx5_1:2; bootstrap on eth1 (10.0.0.11)"));
  CHECK_THAT(lines[4], Catch::StartsWith("sets nothing"));
}

TEST_CASE("hundreds of devices make few lines, and every name is there") {
  Decision decision = socket_decision();
  for (int i = 0; i < 400; ++i)
    decision.devices.push_back(
        {DeviceKind::netdev, "veth" + std::to_string(i), Verdict::rejected, "virtual-veth", "a container's"});
  const auto lines = log_block({}, Policy(), decision, facts());
  CHECK(lines.size() < 30);
  std::string all;
  for (const std::string& line : lines) {
    CHECK(line.size() <= 300);
    all += line + ",";
  }
  for (const DeviceVerdict& device : decision.devices) CHECK(all.find(" " + device.name + ",") != std::string::npos);
}

TEST_CASE("names from the host cannot break a line or a terminal") {
  Decision decision = socket_decision();
  decision.devices[0].name = "a\nb\x1b[31m";
  decision.socket.ifnames[0] = "\xff";
  decision.findings[0].message = std::string(5000, 'x') + "\n";
  decision.env["NCCL_X"] = "a\rb";
  for (const std::string& line : log_block({}, Policy(), decision, facts())) {
    CHECK(line == printable(line));
    CHECK(line.size() < 900);
  }
}
