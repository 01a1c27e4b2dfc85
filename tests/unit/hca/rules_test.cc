// SPDX-License-Identifier: Apache-2.0
// Each rule row of the HCA tables once with a host on which it decides, and once where it must not.
#include <catch2/catch.hpp>

#include "build.h"
#include "decide/hca_filters.h"
#include "decide/hca_ports.h"

using namespace test;

namespace {

std::string reason(const HostSnapshot& host, const std::string& name, const Policy& policy = {}) {
  const auto found = verdict(hcas(host, policy), name);
  return std::string(verdict_name(found.verdict)) + " " + found.reason;
}

}  // namespace

TEST_CASE("EFA and its like go to their own plugin") {
  HostSnapshot host;
  ib(host, "rdmap0").link_layer = "Unspecified";
  device(host, "rdmap0").driver = "efa";
  device(host, "rdmap0").node_type = "unspecified";
  CHECK(reason(host, "rdmap0") == "rejected own-plugin");
  device(host, "rdmap0").driver.reset();
  CHECK(reason(host, "rdmap0") == "rejected own-plugin");
  device(host, "rdmap0").node_type = "CA";
  CHECK(reason(host, "rdmap0") == "rejected link-layer-unknown");
}

TEST_CASE("iWARP is left out, RoCE by a driver that says RNIC is not") {
  HostSnapshot host;
  auto& port = roce(host, "irdma0", "eth0", "10.0.0.1");
  device(host, "irdma0").node_type = "RNIC";
  device(host, "irdma0").driver = "irdma";
  CHECK(reason(host, "irdma0") == "chosen best-class");
  // iWARP's one entry: the MAC address, padded.
  port.gids = std::vector<GidEntry>{gid(0, "200:0:1::", "IB/RoCE v1", "")};
  CHECK(reason(host, "irdma0") == "rejected iwarp");
  port.gids.reset();
  CHECK(reason(host, "irdma0") == "rejected iwarp");
  CHECK(hcas(host).rdma_hardware);
}

TEST_CASE("a device that cannot be opened") {
  HostSnapshot host;
  ib(host, "mlx5_0");
  ib(host, "mlx5_1");
  device(host, "mlx5_1").usable = false;
  const auto result = hcas(host);
  CHECK(chosen(result) == "mlx5_0:1");
  CHECK(verdict(result, "mlx5_1").reason == "unopenable");
  CHECK(codes(result.findings) == "hca-unusable");
  CHECK(result.env.empty());              // NCCL cannot open it either
  device(host, "mlx5_1").usable.reset();  // not tried is not "cannot"
  CHECK(chosen(hcas(host)) == "mlx5_0:1 mlx5_1:1");
}

TEST_CASE("port states") {
  HostSnapshot host;
  ib(host, "mlx5_0");
  auto& port = ib(host, "mlx5_1");
  port.state = "DOWN";
  port.phys_state = "Polling";
  CHECK(reason(host, "mlx5_1") == "rejected port-down");
  CHECK(codes(hcas(host).findings) == "port-down");
  port.state = "INIT";
  port.phys_state = "LinkUp";
  port.sm_lid = 0;
  CHECK(reason(host, "mlx5_1") == "rejected subnet-manager-missing");
  CHECK(codes(hcas(host).findings) == "subnet-manager-missing");
  port.state = "ARMED";
  CHECK(reason(host, "mlx5_1") == "rejected port-down");
  port.state.reset();
  CHECK(reason(host, "mlx5_1") == "chosen best-class");
  CHECK(hcas(host).env.empty());
}

TEST_CASE("an Ethernet port without a usable GID") {
  HostSnapshot host;
  roce(host, "mlx5_0", "eth0", "10.0.0.1");
  auto& port = roce(host, "mlx5_1", "eth1", "10.0.1.1");
  port.gids->clear();
  const auto result = hcas(host);
  CHECK(chosen(result) == "mlx5_0:1");
  CHECK(verdict(result, "mlx5_1").reason == "gid-missing");
  CHECK(codes(result.findings) == "gid-missing");
  CHECK(env(result.env) == "NCCL_IB_HCA==mlx5_0:1");
  port.gids.reset();  // unknown is not empty
  CHECK(chosen(hcas(host)) == "mlx5_0:1 mlx5_1:1");
}

TEST_CASE("nothing usable: NCCL is kept off ports that it would take") {
  HostSnapshot host;
  roce(host, "mlx5_0", "eth0", "10.0.0.1").gids->clear();
  auto result = hcas(host);
  CHECK(result.hcas.empty());
  CHECK(env(result.env) == "NCCL_IB_DISABLE=1");
  CHECK(result.idle_cause == "1 without a usable GID here");
  host.env["NCCL_IB_DISABLE"] = "0";
  CHECK(hcas(host).env.empty());
  device(host, "mlx5_0").usable = false;
  host.env.clear();
  CHECK(hcas(host).env.empty());
}

TEST_CASE("link-local only beside better") {
  HostSnapshot host;
  roce(host, "hca0", "eth0", "10.0.0.1");
  roce(host, "hca1", "eth1", "169.254.9.9");
  roce(host, "hca2", "eth2", "");
  CHECK(chosen(hcas(host)) == "hca0:1");
  CHECK(reason(host, "hca1") == "rejected link-local");
  CHECK(reason(host, "hca2") == "rejected link-local");
  HostSnapshot alone;
  roce(alone, "hca1", "eth1", "169.254.9.9");
  CHECK(chosen(hcas(alone)) == "hca1:1");
}

TEST_CASE("physical function before its virtual ones, where it is usable") {
  HostSnapshot host;
  roce(host, "pf", "eth0", "10.0.0.1");
  roce(host, "vf0", "eth1", "10.0.1.1");
  roce(host, "vf1", "eth2", "10.0.2.1");
  device(host, "pf").pci = "0000:4b:00.0";
  device(host, "vf0").physfn = device(host, "vf1").physfn = "0000:4B:00.0";
  CHECK(chosen(hcas(host)) == "pf:1");
  CHECK(reason(host, "vf0") == "eligible virtual-function");
  device(host, "pf").ports[0].gids->clear();
  const auto pod = hcas(host);
  CHECK(chosen(pod) == "vf0:1 vf1:1");
  REQUIRE(codes(pod.findings) == "gid-missing");
  CHECK(pod.findings.front().severity == Severity::info);
  HostSnapshot only_vfs;  // a cloud machine: the physical function is nowhere to be seen
  ib(only_vfs, "mlx5_0");
  device(only_vfs, "mlx5_0").physfn = "0000:4b:00.0";
  CHECK(chosen(hcas(only_vfs)) == "mlx5_0:1");
}

TEST_CASE("software RDMA only where there is nothing else") {
  HostSnapshot host;
  roce(host, "rxe0", "eth0", "10.0.0.1", 400);
  device(host, "rxe0").driver = "rdma_rxe";
  CHECK(chosen(hcas(host)) == "rxe0:1");
  CHECK_FALSE(hcas(host).rdma_hardware);
  device(host, "rxe0").pci = "0000:4b:00.0";  // whatever calls itself so: with a PCI device it is hardware
  CHECK(hcas(host).rdma_hardware);
  device(host, "rxe0").pci.reset();
  roce(host, "mlx5_0", "eth1", "10.0.1.1", 100);
  CHECK(chosen(hcas(host)) == "mlx5_0:1");
  CHECK(reason(host, "rxe0") == "eligible software-rdma");
}

TEST_CASE("the link layer of most cards of the fastest class; a tie is InfiniBand's") {
  HostSnapshot host;
  ib(host, "ib0", 200);
  roce(host, "eth0", "e0", "10.0.0.1", 200);
  auto result = hcas(host);
  CHECK(chosen(result) == "ib0:1");
  CHECK(verdict(result, "eth0").reason == "other-link-layer");
  CHECK(codes(result.use_findings) == "mixed-link-layer");
  roce(host, "eth1", "e1", "10.0.1.1", 200);
  result = hcas(host);
  CHECK(chosen(result) == "eth0:1 eth1:1");
  // Virtual functions of one card are one vote.
  for (int i = 0; i < 8; ++i) {
    const auto name = "vf" + std::to_string(i);
    ib(host, name, 200);
    device(host, name).physfn = "0000:4b:00.0";
  }
  CHECK(chosen(hcas(host)) == "ib0:1 vf0:1 vf1:1 vf2:1 vf3:1 vf4:1 vf5:1 vf6:1 vf7:1");
  device(host, "ib0").pci = "0000:4b:00.0";
  CHECK(chosen(hcas(host)) == "eth0:1 eth1:1");
  // A slow majority does not count: four 25G ports for storage beside one fast InfiniBand port.
  HostSnapshot storage;
  ib(storage, "mlx5_0", 400);
  for (int i = 1; i < 5; ++i) {
    const auto name = std::to_string(i);
    roce(storage, "mlx5_" + name, "e" + name, "10.0." + name + ".1", 25);
  }
  CHECK(chosen(hcas(storage)) == "mlx5_0:1");
  CHECK(hcas(storage).use_findings.front().severity == Severity::info);
  CHECK(result.use_findings.front().severity == Severity::warning);
}

TEST_CASE("one port of each kind on a VPI card") {
  HostSnapshot host;
  ib(host, "mlx5_0", 100);
  roce(host, "mlx5_0", "eth0", "10.0.0.1", 100);
  const auto result = hcas(host);
  CHECK(chosen(result) == "mlx5_0:1");
  CHECK(verdict(result, "mlx5_0").verdict == Verdict::chosen);
  CHECK(verdict(result, "mlx5_0").detail.find("port 2 eligible") != std::string::npos);
  CHECK(env(result.env) == "NCCL_IB_HCA==mlx5_0:1");
}

TEST_CASE("speed class") {
  HostSnapshot host;
  ib(host, "a", 400);
  ib(host, "b", 200);
  CHECK(chosen(hcas(host)) == "a:1");
  CHECK(reason(host, "b") == "eligible slower");
  device(host, "b").ports[0].rate_gbps = 399.9;
  CHECK(chosen(hcas(host)) == "a:1 b:1");
  device(host, "b").ports[0].rate_gbps.reset();  // unknown is not slow
  CHECK(chosen(hcas(host)) == "a:1 b:1");
  HostSnapshot by_netdev;  // a rate that is not recorded is the netdev's
  roce(by_netdev, "a", "e0", "10.0.0.1").rate_gbps.reset();
  roce(by_netdev, "b", "e1", "10.0.1.1").rate_gbps.reset();
  (*by_netdev.links)[0].speed_mbps = 100000;
  (*by_netdev.links)[1].speed_mbps = 25000;
  CHECK(chosen(hcas(by_netdev)) == "a:1");
}

TEST_CASE("RoCE v1 only is not mixed with v2") {
  HostSnapshot host;
  roce(host, "new", "e0", "10.0.0.1");
  auto& old_port = roce(host, "old", "e1", "10.0.1.1");
  for (auto& entry : *old_port.gids) entry.type = "IB/RoCE v1";
  CHECK(chosen(hcas(host)) == "new:1");
  CHECK(reason(host, "old") == "eligible older-roce");
  host.rdma->erase(host.rdma->begin());
  CHECK(chosen(hcas(host)) == "old:1");
}

TEST_CASE("nearness: the nearest class, and for each GPU the nearest it has") {
  HostSnapshot host;
  for (const char* name : {"a", "b", "storage"}) ib(host, name);
  gpu(host, 0);
  gpu(host, 1);
  using P = PathClass;
  host.paths = std::vector<GpuPath>{{0, "a", P::PIX}, {0, "b", P::SYS}, {0, "storage", P::NODE},
                                    {1, "a", P::SYS}, {1, "b", P::PIX}, {1, "storage", P::NODE}};
  CHECK(chosen(hcas(host)) == "a:1 b:1");
  CHECK(reason(host, "storage") == "eligible far");
  (*host.paths)[4].path = P::NODE;  // GPU 1 has nothing nearer than NODE: both that are so near
  CHECK(chosen(hcas(host)) == "a:1 b:1 storage:1");
  host.gpus->pop_back();
  CHECK(chosen(hcas(host)) == "a:1");
  host.gpus->clear();  // without GPUs nothing is far
  CHECK(chosen(hcas(host)) == "a:1 b:1 storage:1");
  gpu(host, 5).numa_node.reset();  // of this one nothing is known
  CHECK(chosen(hcas(host)) == "a:1 b:1 storage:1");
}

TEST_CASE("the operator's exclusions and subnets") {
  HostSnapshot host;
  roce(host, "a", "e0", "10.0.0.1");
  roce(host, "b", "e1", "10.1.0.1");
  Policy policy;
  policy.exclude = {{Selector::By::name, "a", {}}};
  CHECK(chosen(hcas(host, policy)) == "b:1");
  CHECK(reason(host, "a", policy) == "rejected excluded");
  policy.exclude = {{Selector::By::name, "e1", {}}};  // its netdev's name
  CHECK(chosen(hcas(host, policy)) == "a:1");
  policy.exclude = {{Selector::By::prefix, "", *Prefix::parse("10.1.0.0/16")}};
  CHECK(chosen(hcas(host, policy)) == "a:1");
  policy.exclude = {{Selector::By::prefix, "", *Prefix::parse("10.0.0.0/8")}};  // never to nothing
  CHECK(chosen(hcas(host, policy)) == "a:1 b:1");
  policy = {};
  policy.include = {{Selector::By::name, "b", {}}};
  CHECK(chosen(hcas(host, policy)) == "b:1");
  policy.include = {{Selector::By::name, "eno1", {}}};  // names no HCA: about interfaces
  CHECK(chosen(hcas(host, policy)) == "a:1 b:1");
  policy = {};
  policy.subnets = {*Prefix::parse("10.1.0.0/16")};
  CHECK(chosen(hcas(host, policy)) == "b:1");
  CHECK(reason(host, "a", policy) == "eligible outside-policy");
}

TEST_CASE("the user's list decides, whatever we think of it") {
  HostSnapshot host;
  ib(host, "mlx5_1", 400);
  ib(host, "mlx5_10", 100);
  roce(host, "mlx5_2", "e0", "10.0.0.1").gids->clear();
  host.env["NCCL_IB_HCA"] = "mlx5_1";
  CHECK(chosen(hcas(host)) == "mlx5_1:1 mlx5_10:1");
  CHECK(reason(host, "mlx5_2") == "rejected gid-missing");
  host.env["NCCL_IB_HCA"] = "=mlx5_2";
  const auto result = hcas(host);
  CHECK(chosen(result) == "mlx5_2:1");
  CHECK(reason(host, "mlx5_2") == "chosen user-listed");
  CHECK(reason(host, "mlx5_1") == "eligible not-listed");
  CHECK(codes(result.findings) == "gid-missing");
  CHECK(result.env.count("NCCL_IB_HCA") == 0);
  host.env["NCCL_IB_HCA"] = "=nothing";
  CHECK(hcas(host).hcas.empty());
  CHECK(hcas(host).env.empty());
  host.env["NCCL_IB_HCA"] = "^mlx5_1";
  CHECK(chosen(hcas(host)) == "mlx5_2:1");
}

TEST_CASE("findings where RDMA is used, and none where it is not") {
  HostSnapshot host;
  ib(host, "mlx5_0");
  gpu(host, 0);
  host.process.memlock_bytes = 65536;
  host.gpu_driver.dmabuf = false;
  host.system.modules = std::vector<std::string>{"mlx5_core"};
  auto result = hcas(host);
  CHECK(codes(result.use_findings) == "memlock-low gdr-unavailable");
  leave_hcas_idle(result, "socket-transport", "NCCL_NET=Socket");
  CHECK(result.hcas.empty());
  CHECK(result.use_findings.empty());
  CHECK(result.idle_cause == "NCCL_NET=Socket");
  CHECK(verdict(result, "mlx5_0").verdict == Verdict::eligible);
  host.process.memlock_bytes = -1;
  host.system.modules->push_back("nvidia_peermem");
  CHECK(hcas(host).use_findings.empty());
  host.system.modules.reset();  // unknown
  CHECK(hcas(host).use_findings.empty());
}

TEST_CASE("a host full of virtual functions gets one finding for them") {
  HostSnapshot host;
  ib(host, "mlx5_0");
  for (int i = 1; i < 100; ++i) ib(host, "mlx5_" + std::to_string(i)).state = "DOWN";
  const auto result = hcas(host);
  CHECK(codes(result.findings) == "port-down");
  CHECK(result.devices.size() == 100);
}

TEST_CASE("NCCL's own limit") {
  HostSnapshot host;
  host.nccl_version = "2.18.3";
  for (int i = 0; i < 20; ++i) ib(host, "mlx5_" + std::to_string(i));
  CHECK(hcas(host).hcas.size() == 16);
  CHECK(reason(host, "mlx5_16") == "eligible nccl-limit");
}

TEST_CASE("names sort as people count") {
  CHECK(natural_less("mlx5_2", "mlx5_10"));
  CHECK_FALSE(natural_less("mlx5_10", "mlx5_2"));
  CHECK(natural_less("a", "b"));
  CHECK_FALSE(natural_less("a1", "a1"));
  CHECK(natural_less("mlx5_1", "mlx5_1a"));
  CHECK(natural_less("a01", "a1") != natural_less("a1", "a01"));
}

TEST_CASE("every row says what taught it") {
  for (const auto& row : hca_state_rows()) CHECK_FALSE(row.taught_by.empty());
  for (const auto& row : hca_filter_rows()) CHECK_FALSE(row.taught_by.empty());
}
