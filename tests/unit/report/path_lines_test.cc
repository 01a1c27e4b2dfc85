// SPDX-License-Identifier: Apache-2.0
#include "report/path_lines.h"

#include <catch2/catch.hpp>

using namespace topoguard;

namespace {

HostSnapshot roce_host() {
  HostSnapshot host;
  Link link;
  link.ifname = "eth1";
  link.parentbus = "pci";
  link.driver = "mlx5_core";
  link.speed_mbps = 200000;
  link.mtu = 4200;
  host.links = {link};
  RdmaDevice device;
  device.name = "mlx5_0";
  RdmaPort port;
  port.active_mtu = 4096;
  port.gids = {{{3, *Gid::parse("::ffff:10.0.0.11"), "RoCE v2", "eth1"}}};
  device.ports = {port};
  host.rdma = {device};
  return host;
}

Decision roce_decision() {
  Decision decision;
  decision.transport = Transport::ib;
  decision.socket.ifnames = {"eth1"};
  HcaChoice hca;
  hca.name = "mlx5_0";
  hca.link_layer = "Ethernet";
  hca.gid_index = 3;
  hca.gid = Gid::parse("::ffff:10.0.0.11");
  hca.rate_gbps = 200;
  hca.netdev = "eth1";
  decision.hcas = {hca};
  decision.gpus = {{0, 1, *CpuSet::parse("0-31"), {"mlx5_0"}, PathClass::PIX}};
  decision.devices = {{DeviceKind::netdev, "eth1", Verdict::chosen, "best-interface", ""},
                      {DeviceKind::hca, "mlx5_0", Verdict::chosen, "best-class", ""}};
  decision.trace = {{"eth1", "best-interface", "chosen"},
                    {"mlx5_0", "gid-choice", "port 1: index 3"},
                    {"mlx5_0", "best-class", "port 1 chosen"},
                    {"", "hca-steering", "NCCL_IB_HCA==mlx5_0:1"}};
  return decision;
}

std::vector<std::string> lines(LogLevel level, std::set<Subject> subjects = {}) {
  Policy policy;
  policy.log = level;
  policy.subjects = std::move(subjects);
  return path_lines(roce_host(), policy, roce_decision());
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("the summary has none of them, paths one for each thing chosen") {
  CHECK(lines(LogLevel::summary).empty());
  CHECK(lines(LogLevel::paths) == Lines{"interface eth1: on pci, driver mlx5_core, 200 Gb/s, MTU 4200",
                                        "hca mlx5_0:1: Ethernet, 200 Gb/s, MTU 4096, netdev eth1",
                                        "gid mlx5_0:1: index 3, ::ffff:10.0.0.11, RoCE v2",
                                        "affinity GPU 0: NUMA node 1, CPUs 0-31, nearest mlx5_0 (PIX)"});
}

TEST_CASE("subjects keep paths and rules to what was asked for") {
  CHECK(lines(LogLevel::paths, {Subject::gid}) == Lines{"gid mlx5_0:1: index 3, ::ffff:10.0.0.11, RoCE v2"});
  CHECK(lines(LogLevel::debug, {Subject::gid}) ==
        Lines{"gid mlx5_0:1: index 3, ::ffff:10.0.0.11, RoCE v2", "rule mlx5_0: gid-choice: port 1: index 3"});
  CHECK(lines(LogLevel::debug, {Subject::steering}) == Lines{"rule hca-steering: NCCL_IB_HCA==mlx5_0:1"});
  CHECK(lines(LogLevel::debug, {Subject::connection}).empty());
  CHECK(lines(LogLevel::debug).size() == 8);
}
