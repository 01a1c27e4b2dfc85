// SPDX-License-Identifier: Apache-2.0
// Each finding that follows from variables, interfaces and the process: once there, once not.
#include "decide/findings.h"

#include <set>

#include "hosts.h"

using namespace test;

namespace {

Host plain() {
  Host host;
  host.nic("eno1", {"10.0.0.11/24"}, 25000);
  host.route("default", "eno1", "10.0.0.1");
  host.snapshot.nccl_version = "2.28.9";
  return host;
}

Strings codes_with(const std::string& name, const std::string& value, const char* release = "2.28.9") {
  auto host = plain();
  host.nic("eno2", {"10.0.1.11/24"}, 1000);
  host.add("docker0", "bridge", {"172.17.0.1/16"});
  for (const auto* hca : {"mlx5_1", "mlx5_10", "mlx5_11"}) host.hca(hca);
  host.snapshot.nccl_version = release;
  host.snapshot.env[name] = value;
  const auto decision = host.decide();
  CHECK(decision.env.count(name) == 0);
  return codes(decision);
}

bool has(const Strings& list, const char* code) { return std::find(list.begin(), list.end(), code) != list.end(); }

}  // namespace

TEST_CASE("the tables are complete and without doubles") {
  std::set<std::string_view> seen;
  for (const auto& row : finding_codes()) CHECK(seen.insert(row.code).second);
  for (const auto* code : {"env-prefix-match",
                           "env-no-match",
                           "env-empty-value",
                           "env-syntax",
                           "env-unknown",
                           "p2p-disabled",
                           "env-loopback-reenabled",
                           "gid-pin-stale",
                           "gid-missing",
                           "port-down",
                           "subnet-manager-missing",
                           "hca-unusable",
                           "mixed-link-layer",
                           "link-local-only",
                           "virtual-only",
                           "slow-fallback",
                           "duplicate-subnet",
                           "affinity-empty",
                           "numa-unknown",
                           "gdr-unavailable",
                           "plugin-shadowed",
                           "peer-unreachable",
                           "memlock-low",
                           "shm-small",
                           "pcie-degraded",
                           "acs-on",
                           "address-not-steerable",
                           "plugin-bypassed",
                           "bootstrap-not-covered",
                           "mtu-mismatch",
                           "gid-type-mismatch",
                           "link-layer-mismatch",
                           "subnet-mismatch",
                           "hca-count-mismatch",
                           "transport-mismatch",
                           "nccl-version-mismatch",
                           "env-mismatch",
                           "rail-mismatch",
                           "speed-mismatch"})
    CHECK(seen.count(code) == 1);
  std::set<std::string_view> reasons;
  for (const auto& row : reason_codes()) CHECK(reasons.insert(row.reason).second);
  CHECK(list_codes().find("bootstrap-not-covered") != std::string::npos);
  CHECK(make_finding("no-such-code", "", "text").code == "internal-error");
  CHECK(make_finding("shm-small", "", "text").message == "text.");
}

TEST_CASE("a healthy host has nothing to say and nothing set") {
  const auto decision = plain().decide();
  CHECK(codes(decision).empty());
  CHECK(decision.env.empty());
}

TEST_CASE("device lists") {
  CHECK(has(codes_with("NCCL_IB_HCA", "mlx5_1"), "env-prefix-match"));
  CHECK(!has(codes_with("NCCL_IB_HCA", "=mlx5_1"), "env-prefix-match"));
  CHECK(!has(codes_with("NCCL_IB_HCA", "mlx5_10"), "env-prefix-match"));
  CHECK(has(codes_with("NCCL_IB_HCA", "^mlx5_1"), "env-prefix-match"));
  CHECK(!has(codes_with("NCCL_IB_HCA", "^mlx"), "env-prefix-match"));
  CHECK(has(codes_with("NCCL_IB_HCA", "^mlx"), "env-no-match"));
  CHECK(has(codes_with("NCCL_IB_HCA", "mlx4"), "env-no-match"));
  CHECK(has(codes_with("NCCL_SOCKET_IFNAME", "eno"), "env-prefix-match"));
  CHECK(!has(codes_with("NCCL_SOCKET_IFNAME", "eno1,eth0"), "env-no-match"));
  CHECK(has(codes_with("NCCL_SOCKET_IFNAME", "eth0"), "env-no-match"));
  CHECK(has(codes_with("NCCL_SOCKET_IFNAME", "^docker"), "env-loopback-reenabled"));
  CHECK(!has(codes_with("NCCL_SOCKET_IFNAME", "^docker,lo"), "env-loopback-reenabled"));
  CHECK(!has(codes_with("NCCL_SOCKET_IFNAME", "lo"), "env-loopback-reenabled"));
  for (const auto* list : {"^=eno1,^=docker0", "eno1, eno2", "eno1;eno2", "'eno1'", "eno*", "=^eno1", "^", "="})
    CHECK(has(codes_with("NCCL_SOCKET_IFNAME", list), "env-syntax"));
  for (const auto* list : {"eno1", "=eno1,eno2", "^docker0,lo", "eno1:1", ""})
    CHECK(!has(codes_with("NCCL_SOCKET_IFNAME", list), "env-syntax"));
}

TEST_CASE("values and names") {
  CHECK(has(codes_with("NCCL_NET", ""), "env-empty-value"));
  CHECK(has(codes_with("NCCL_NET_PLUGIN", ""), "env-empty-value"));
  CHECK(!has(codes_with("NCCL_NET_PLUGIN", "", "2.26.5"), "env-empty-value"));
  CHECK(!has(codes_with("NCCL_IB_GID_INDEX", ""), "env-empty-value"));
  CHECK(has(codes_with("NCCL_SOCKET_FAMILY", "ipv4"), "env-syntax"));
  CHECK(has(codes_with("NCCL_IB_DISABLE", "true"), "env-syntax"));
  CHECK(!has(codes_with("NCCL_IB_DISABLE", "0x1"), "env-syntax"));
  CHECK(has(codes_with("NCCL_IB_GID_INDEX", "99999999999999999999"), "env-syntax"));
  CHECK(!has(codes_with("NCCL_IB_GID_INDEX", "-1"), "env-syntax"));
  for (const auto* range : {"r0", "10.0.0.0/33", "fd00::/8"})
    CHECK(has(codes_with("NCCL_IB_ADDR_RANGE", range), "env-syntax"));
  CHECK(!has(codes_with("NCCL_IB_ADDR_RANGE", "10.0.0.0/8"), "env-syntax"));
  CHECK(!has(codes_with("NCCL_IB_ADDR_RANGE", "r0", "2.20.5"), "env-syntax"));  // does not read it
  CHECK(has(codes_with("NCCL_SOCKET_IFNAMES", "eno1"), "env-unknown"));
  CHECK(has(codes_with("NCCL_BLOCKING_WAIT", "1"), "env-unknown"));
  CHECK(has(codes_with("NCCL_LL_THRESHOLD", "0"), "env-unknown"));
  CHECK(has(codes_with("NCCL_ENV_PLUGIN", "topoguard", "2.27.7"), "env-unknown"));
  CHECK(!has(codes_with("NCCL_DEBUG", "INFO"), "env-unknown"));
  CHECK(!has(codes_with("NCCL_VERSION", "2.28"), "env-unknown"));
}

TEST_CASE("what topoguard published earlier is not the user's") {
  auto host = plain();
  host.nic("eno2", {"10.0.1.11/24"}, 1000);
  host.snapshot.env["NCCL_SOCKET_IFNAME"] = "=eno2";
  CHECK(host.decide().socket.ifnames == Strings{"eno2"});
  host.snapshot.env["TOPOGUARD_APPLIED"] = "0123-4567:4026531840:NCCL_SOCKET_IFNAME,NCCL_IB_HCA";
  const auto decision = host.decide();
  CHECK(decision.socket.ifnames == Strings{"eno1"});
  CHECK(env(decision, "NCCL_SOCKET_IFNAME") == "=eno1");
}

TEST_CASE("transport and the user's settings") {
  auto host = plain();
  host.hca("mlx5_0");
  CHECK(host.decide().transport == Transport::ib);
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"NCCL_NET", "socket"}, {"NCCL_IB_DISABLE", "1"}}) {
    auto other = host;
    other.snapshot.env[name] = value;
    const auto decision = other.decide();
    CHECK(decision.transport == Transport::socket);
    CHECK(decision.hcas.empty());
    CHECK(decision.env.empty());
    CHECK(finds(decision, "slow-fallback"));
    CHECK(verdict(decision, "mlx5_0").verdict == Verdict::eligible);
  }
  host.snapshot.env["NCCL_NET"] = "";
  CHECK(host.decide().transport == Transport::none);
  host.snapshot.env["NCCL_NET"] = "IB";
  CHECK(host.decide().transport == Transport::ib);
  host.snapshot.rdma->front().usable = false;
  CHECK(host.decide().transport == Transport::none);
  host.snapshot.env.clear();
  host.policy.require_ib = true;
  const auto decision = host.decide();
  CHECK(decision.transport == Transport::socket);
  CHECK(finds(decision, "require-ib-unmet"));
  CHECK(finds(decision, "slow-fallback"));
}

TEST_CASE("RDMA in software that is not used is no slow-fallback") {
  for (const char* driver : {"rdma_rxe", "siw"}) {
    auto host = plain();
    auto& device = host.hca("rdma0");
    device.driver = driver;
    device.usable = false;
    CHECK(host.decide().transport == Transport::socket);
    CHECK_FALSE(finds(host.decide(), "slow-fallback"));
    device.pci = "0000:4b:00.0";
    CHECK(finds(host.decide(), "slow-fallback"));
  }
}

TEST_CASE("interfaces") {
  SECTION("interfaces-unknown") {
    Host host = plain();
    CHECK(!finds(host.decide(), "interfaces-unknown"));
    host.snapshot.links.reset();
    host.snapshot.routes.reset();
    CHECK(finds(host.decide(), "interfaces-unknown"));
    CHECK(host.decide().env.empty());
  }
  SECTION("faster-without-route") {
    Host host;
    host.nic("eno1", {"10.1.0.5/24"}, 1000);
    host.nic("ib0", {"10.10.0.5/16"}, 200000);
    host.route("default", "eno1", "10.1.0.1");
    CHECK(host.decide().socket.ifnames == Strings{"eno1"});
    CHECK(finds(host.decide(), "faster-without-route"));
    host.snapshot.env["MASTER_ADDR"] = "10.1.0.9";
    CHECK(finds(host.decide(), "faster-without-route"));
    host.peers({"10.1.0.7"});  // then it is known who is where
    CHECK(!finds(host.decide(), "faster-without-route"));
    host.snapshot.peers.clear();
    host.get("ib0").speed_mbps = 2000;
    CHECK(!finds(host.decide(), "faster-without-route"));
  }
  SECTION("duplicate-subnet") {
    auto host = plain();
    host.nic("eno2", {"10.0.0.12/24"}, 25000);
    CHECK(finds(host.decide(), "duplicate-subnet"));
    CHECK(reason(host.decide(), "eno2") == "no-default-route");
    auto equal = host;
    equal.route("default", "eno2", "10.0.0.1");
    CHECK(reason(equal.decide(), "eno2") == "shares-subnet");
    host.snapshot.routes->back().metric = 200;  // the kernel always takes the other
    CHECK(!finds(host.decide(), "duplicate-subnet"));
    host.snapshot.routes->back().metric.reset();
    host.unplug("eno2");
    CHECK(!finds(host.decide(), "duplicate-subnet"));
  }
  SECTION("peer-unreachable and a drain of unreachable routes") {
    auto host = plain();
    host.peers({"10.9.0.1"});
    CHECK(!finds(host.decide(), "peer-unreachable"));
    host.route("10.9.0.0/16", "").type = "unreachable";
    CHECK(finds(host.decide(), "peer-unreachable"));
    host.snapshot.peers = {*IpAddress::parse("10.0.0.11")};  // this host itself
    CHECK(!finds(host.decide(), "peer-unreachable"));
  }
  SECTION("link-local-only") {
    Host host;
    host.nic("eno1", {"fe80::1/64"});
    host.add("docker0", "bridge", {"172.17.0.1/16"});
    const auto decision = host.decide();
    CHECK(decision.socket.ifnames == Strings{"eno1"});
    CHECK(finds(decision, "link-local-only"));
    CHECK(!finds(decision, "virtual-only"));
  }
  SECTION("bootstrap-not-covered: only a wrong one") {
    auto host = plain();
    host.add("br-lab", "bridge", {"10.4.0.1/24"});
    host.nic("eno2", {"10.0.1.11/24"}, 1000);
    host.snapshot.topoguard.front_end = "net";
    host.snapshot.topoguard.bootstrap = "br-lab";
    CHECK(finds(host.decide(), "bootstrap-not-covered"));
    for (const auto* fine : {"eno1", "eno2"}) {
      host.snapshot.topoguard.bootstrap = fine;
      CHECK(!finds(host.decide(), "bootstrap-not-covered"));
    }
    host.snapshot.topoguard.bootstrap.reset();  // NCCL's own rules tell: eno1 stands first
    CHECK(!finds(host.decide(), "bootstrap-not-covered"));
    host.get("br-lab").ifindex = 0;
    CHECK(finds(host.decide(), "bootstrap-not-covered"));
    host.snapshot.topoguard.front_end = "preload";
    CHECK(!finds(host.decide(), "bootstrap-not-covered"));
  }
}

TEST_CASE("host and process") {
  auto host = plain();
  host.snapshot.gpus.emplace();
  for (int i = 0; i < 4; ++i) {
    Gpu gpu;
    gpu.index = i;
    gpu.name = "NVIDIA L40S";
    host.snapshot.gpus->push_back(gpu);
  }
  host.snapshot.shm_bytes = std::int64_t{256} << 20;
  CHECK(!finds(host.decide(), "shm-small"));
  host.snapshot.shm_bytes = (std::int64_t{256} << 20) - 1;
  CHECK(finds(host.decide(), "shm-small"));

  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
           {"NCCL_P2P_DISABLE", "1"}, {"NCCL_P2P_LEVEL", "LOC"}, {"NCCL_P2P_LEVEL", "NVL"}}) {
    auto other = host;
    other.snapshot.env[name] = value;
    CHECK(finds(other.decide(), "p2p-disabled"));
    other.snapshot.pci.emplace();
    PciDevice bridge;
    bridge.id = "0000:00:01.0";
    bridge.acs_redirect = true;
    other.snapshot.pci->push_back(bridge);
    CHECK(!finds(other.decide(), "p2p-disabled"));
  }
  for (const auto& [name, low] : std::vector<std::pair<std::string, bool>>{{"NVIDIA A100-SXM4-80GB", false},
                                                                           {"NVIDIA H100 80GB HBM3", false},
                                                                           {"NVIDIA H200", false},
                                                                           {"NVIDIA GB200", false},
                                                                           {"NVIDIA H200 NVL", true},
                                                                           {"NVIDIA A100-PCIE-40GB", true},
                                                                           {"NVIDIA L40S", true}}) {
    INFO(name);
    auto other = host;
    for (auto& gpu : *other.snapshot.gpus) gpu.name = name;
    other.snapshot.env["NCCL_P2P_LEVEL"] = "NVL";
    CHECK(finds(other.decide(), "p2p-disabled") == low);
  }
  host.snapshot.env["NCCL_P2P_LEVEL"] = "SYS";
  CHECK(!finds(host.decide(), "p2p-disabled"));

  host.snapshot.env.clear();
  host.snapshot.plugins = std::vector<Plugin>{{"/opt/x/libnccl-net.so", "net", {"v8"}}};
  CHECK(finds(host.decide(), "plugin-shadowed"));
  host.snapshot.env["NCCL_NET_PLUGIN"] = "topoguard";
  CHECK(!finds(host.decide(), "plugin-shadowed"));
  CHECK(!finds(host.decide(), "plugin-bypassed"));
  for (const auto* other : {"none", "ofi"}) {
    host.snapshot.env["NCCL_NET_PLUGIN"] = other;
    CHECK(finds(host.decide(), "plugin-bypassed"));
  }
  host.snapshot.topoguard.front_end = "env";
  CHECK(!finds(host.decide(), "plugin-bypassed"));
}

TEST_CASE("policy") {
  Host host;
  host.nic("eno1", {"10.0.0.11/24"}, 100000);
  host.nic("eno2", {"10.1.0.11/24"}, 1000);
  host.add("wg0", "wireguard", {"10.2.0.11/24"});
  host.add("cni0", "bridge", {"10.3.0.1/24"});
  host.route("default", "eno1", "10.0.0.1");
  const auto chosen = [&] { return host.decide().socket.ifnames; };
  const auto selector = [](Selector::By by, const std::string& text) {
    Selector made;
    made.by = by;
    made.text = text;
    if (by == Selector::By::prefix) made.prefix = *Prefix::parse(text);
    return made;
  };
  SECTION("subnets, first listed first") {
    host.policy.subnets = {*Prefix::parse("10.1.0.0/16"), *Prefix::parse("10.0.0.0/16")};
    CHECK(chosen() == Strings{"eno2"});
    host.policy.subnets = {*Prefix::parse("10.2.0.0/16")};
    CHECK(chosen() == Strings{"wg0"});
    host.policy.subnets = {*Prefix::parse("10.3.0.0/16")};  // no word for a container bridge
    CHECK(chosen() == Strings{"eno1"});
  }
  SECTION("exclude, while anything else is left") {
    host.policy.exclude = {selector(Selector::By::name, "eno1")};
    CHECK(chosen() == Strings{"eno2"});
    CHECK(reason(host.decide(), "eno1") == "excluded");
    host.policy.exclude.push_back(selector(Selector::By::prefix, "10.1.0.0/16"));
    CHECK(chosen() == Strings{"eno1"});
  }
  SECTION("include, where any is usable") {
    host.policy.include = {selector(Selector::By::kind, "wireguard")};
    CHECK(chosen() == Strings{"wg0"});
    host.policy.include = {selector(Selector::By::name, "cni0")};
    CHECK(chosen() == Strings{"cni0"});
    host.policy.include = {selector(Selector::By::name, "missing")};
    CHECK(chosen() == Strings{"eno1"});
  }
}
