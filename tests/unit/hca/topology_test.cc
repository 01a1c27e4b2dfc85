// SPDX-License-Identifier: Apache-2.0
#include "decide/topology.h"

#include <catch2/catch.hpp>

#include "build.h"

using namespace test;

namespace {

PciDevice pci(const std::string& id, const std::string& parent = "", std::optional<int> node = std::nullopt) {
  PciDevice made;
  made.id = id;
  if (!parent.empty()) made.parent = parent;
  made.numa_node = node;
  return made;
}

/// Two sockets. Socket 0: host bridge 16 with two root ports, below the first a switch (upstream 17, downstream 18)
/// with a GPU, an HCA and a second switch (upstream 1b, downstream 1c) with an HCA; below the other an HCA. Host
/// bridge 30: an HCA. Socket 1: an HCA.
HostSnapshot machine() {
  HostSnapshot host;
  host.pci = std::vector<PciDevice>{pci("0000:16:01.0", "", 0),
                                    pci("0000:17:00.0", "0000:16:01.0", 0),
                                    pci("0000:18:00.0", "0000:17:00.0", 0),
                                    pci("0000:19:00.0", "0000:18:00.0", 0),
                                    pci("0000:18:01.0", "0000:17:00.0", 0),
                                    pci("0000:1a:00.0", "0000:18:01.0", 0),
                                    pci("0000:18:02.0", "0000:17:00.0", 0),
                                    pci("0000:1b:00.0", "0000:18:02.0", 0),
                                    pci("0000:1c:00.0", "0000:1b:00.0", 0),
                                    pci("0000:1d:00.0", "0000:1c:00.0", 0),
                                    pci("0000:16:02.0", "", 0),
                                    pci("0000:20:00.0", "0000:16:02.0", 0),
                                    pci("0000:30:01.0", "", 0),
                                    pci("0000:31:00.0", "0000:30:01.0", 0),
                                    pci("0000:80:01.0", "", 1),
                                    pci("0000:81:00.0", "0000:80:01.0", 1)};
  gpu(host, 0).pci = "00000000:19:00.0";  // as nvidia-smi writes it
  for (const auto& [name, at] : std::vector<std::pair<std::string, std::string>>{{"one_switch", "0000:1a:00.0"},
                                                                                 {"two_switches", "0000:1d:00.0"},
                                                                                 {"same_bridge", "0000:20:00.0"},
                                                                                 {"same_socket", "0000:31:00.0"},
                                                                                 {"other_socket", "0000:81:00.0"}}) {
    ib(host, name);
    device(host, name).pci = at;
  }
  return host;
}

std::string path(const HostSnapshot& host, const std::string& name, int index = 0) {
  const Topology topology(host);
  for (const auto& hca : *host.rdma)
    if (hca.name == name)
      for (const auto& one : *host.gpus)
        if (one.index == index)
          if (const auto found = topology.path(one, hca)) return std::string(path_class_name(*found));
  return "unknown";
}

}  // namespace

TEST_CASE("paths from the PCI tree") {
  const auto host = machine();
  CHECK(path(host, "one_switch") == "PIX");
  CHECK(path(host, "two_switches") == "PXB");
  CHECK(path(host, "same_bridge") == "PHB");
  CHECK(path(host, "same_socket") == "NODE");
  CHECK(path(host, "other_socket") == "SYS");
}

TEST_CASE("a tree without downstream ports counts the same") {
  HostSnapshot host;
  host.pci = std::vector<PciDevice>{pci("ffff:ff:01.0", "", 0),
                                    pci("ffff:ff:02.0", "ffff:ff:01.0", 0),
                                    pci("0001:00:00.0", "ffff:ff:01.0", 0),
                                    pci("0101:00:00.0", "ffff:ff:01.0", 0),
                                    pci("0002:00:00.0", "ffff:ff:02.0", 0),
                                    pci("0102:00:00.0", "ffff:ff:02.0", 0)};
  gpu(host, 0).pci = "0001:00:00.0";
  ib(host, "same");
  device(host, "same").pci = "0101:00:00.0";
  ib(host, "deeper");
  device(host, "deeper").pci = "0102:00:00.0";
  CHECK(path(host, "same") == "PIX");
  CHECK(path(host, "deeper") == "PXB");
}

TEST_CASE("recorded paths win, and what nothing tells stays unknown") {
  auto host = machine();
  host.paths = std::vector<GpuPath>{{0, "other_socket", PathClass::PXB}};
  CHECK(path(host, "other_socket") == "PXB");
  CHECK(path(host, "one_switch") == "PIX");
  host.paths->push_back({0, "other_socket", PathClass::PIX});
  CHECK(path(host, "other_socket") == "PIX");
  HostSnapshot bare;
  gpu(bare, 0).numa_node.reset();
  ib(bare, "mlx5_0");
  CHECK(path(bare, "mlx5_0") == "unknown");
  device(bare, "mlx5_0").numa_node = 0;
  CHECK(path(bare, "mlx5_0") == "unknown");
  bare.gpus->front().numa_node = 0;
  CHECK(path(bare, "mlx5_0") == "NODE");
  device(bare, "mlx5_0").numa_node = 1;
  CHECK(path(bare, "mlx5_0") == "SYS");
}

TEST_CASE("a virtual function is where its card is") {
  auto host = machine();
  ib(host, "vf");
  device(host, "vf").pci = "0000:1a:00.5";
  device(host, "vf").physfn = "0000:1a:00.0";
  CHECK(path(host, "vf") == "PIX");
}

TEST_CASE("trees that loop or point nowhere end") {
  auto host = machine();
  for (auto& one : *host.pci) one.parent = one.id == "0000:19:00.0" ? "0000:1a:00.0" : "0000:19:00.0";
  CHECK_NOTHROW(path(host, "one_switch"));
  for (auto& one : *host.pci) one.parent = one.id;
  CHECK(path(host, "one_switch") == "NODE");
  for (auto& one : *host.pci) one.parent = "0000:ff:1f.7";
  CHECK(path(host, "one_switch") == "NODE");
}

TEST_CASE("PCI ids in their several spellings") {
  CHECK(normal_pci_id("00000000:1B:00.0") == "0000:1b:00.0");
  CHECK(normal_pci_id("1b:00.0") == "0000:1b:00.0");
  CHECK(normal_pci_id("0002:01:00.0") == "0002:01:00.0");
  CHECK(normal_pci_id("10000:e1:00.0") == "10000:e1:00.0");
  CHECK(normal_pci_id("") == "");
  CHECK(normal_pci_id("nonsense") == "nonsense");
}

namespace {

NumaNode numa(int node, const std::string& cpus) { return {node, *CpuSet::parse(cpus), {}}; }

HostSnapshot sockets() {
  HostSnapshot host;
  host.numa = std::vector<NumaNode>{numa(0, "0-31"), numa(1, "32-63")};
  host.process.cpus_allowed = *CpuSet::parse("0-63");
  return host;
}

}  // namespace

TEST_CASE("CPUs near a GPU, inside the allowed ones") {
  auto host = sockets();
  gpu(host, 1, 1);
  gpu(host, 0, 0);
  auto result = choose_gpus(host, Topology(host), {});
  REQUIRE(result.gpus.size() == 2);
  CHECK(result.gpus[0].cpus.text() == "0-31");
  CHECK(result.gpus[1].cpus.text() == "32-63");
  CHECK(result.findings.empty());
  host.process.cpus_allowed = *CpuSet::parse("0-7");
  result = choose_gpus(host, Topology(host), {});
  CHECK(result.gpus[0].cpus.text() == "0-7");
  CHECK(result.gpus[1].cpus.empty());
  CHECK(codes(result.findings) == "affinity-empty");
  host.process.gpu = 0;
  CHECK(codes(choose_gpus(host, Topology(host), {}).findings).empty());
  host.process.gpu = 1;
  CHECK(codes(choose_gpus(host, Topology(host), {}).findings) == "affinity-empty");
}

TEST_CASE("a memory-only node says nothing about CPUs, the PCI locality does") {
  auto host = sockets();
  host.numa->push_back(numa(2, ""));
  gpu(host, 0, 2).pci = "0008:01:00.0";
  auto locality = pci("0008:01:00.0", "", 1);
  locality.local_cpus = *CpuSet::parse("32-63");
  host.pci = std::vector<PciDevice>{locality};
  auto result = choose_gpus(host, Topology(host), {});
  CHECK(result.gpus[0].cpus.text() == "32-63");
  CHECK(result.gpus[0].numa_node == 1);
  host.pci->front().numa_node.reset();
  result = choose_gpus(host, Topology(host), {});
  CHECK(result.gpus[0].cpus.text() == "32-63");
}

TEST_CASE("a platform that hides the node is left alone and named") {
  auto host = sockets();
  gpu(host, 0).numa_node.reset();
  auto result = choose_gpus(host, Topology(host), {});
  CHECK(result.gpus[0].cpus.empty());
  CHECK(codes(result.findings) == "numa-unknown");
  // "Every CPU is local" is how sysfs says that it does not know.
  host.gpus->front().pci = "0000:00:10.0";
  auto locality = pci("0000:00:10.0");
  locality.local_cpus = *CpuSet::parse("0-63");
  host.pci = std::vector<PciDevice>{locality};
  CHECK(codes(choose_gpus(host, Topology(host), {}).findings) == "numa-unknown");
  // One node leaves nothing to hide.
  host.numa = std::vector<NumaNode>{numa(0, "0-63")};
  result = choose_gpus(host, Topology(host), {});
  CHECK(result.findings.empty());
  CHECK(result.gpus[0].cpus.text() == "0-63");
}

TEST_CASE("masks of any width") {
  HostSnapshot host;
  host.numa = std::vector<NumaNode>{numa(0, "0-1535"), numa(1, "1536-3071")};
  gpu(host, 0, 1);
  CHECK(choose_gpus(host, Topology(host), {}).gpus[0].cpus.text() == "1536-3071");
}

TEST_CASE("nearest names all ties of the best class") {
  auto host = machine();
  gpu(host, 1, 1);
  const auto result = choose_gpus(host, Topology(host), hcas(host).hcas);
  CHECK(result.gpus[0].nearest == std::vector<std::string>{"one_switch"});
  CHECK(result.gpus[0].path == PathClass::PIX);
  CHECK(result.gpus[1].nearest == std::vector<std::string>{"other_socket"});
  std::vector<HcaChoice> far(2);
  far[0].name = "same_socket";
  far[1].name = "other_socket";
  const auto two = choose_gpus(host, Topology(host), far);
  CHECK(two.gpus[0].nearest == std::vector<std::string>{"same_socket"});
  CHECK(choose_gpus(host, Topology(host), {}).gpus[0].nearest.empty());
}

TEST_CASE("ACS between a GPU and its nearest HCA") {
  auto host = machine();
  const auto find = [&](const std::string& id) -> PciDevice& {
    for (auto& one : *host.pci)
      if (one.id == id) return one;
    throw std::runtime_error(id);
  };
  const auto said = [&] { return codes(choose_gpus(host, Topology(host), hcas(host).hcas).findings); };
  CHECK(said().empty());
  find("0000:16:01.0").acs_redirect = true;  // the root port above both: no packet goes there
  find("0000:18:02.0").acs_redirect = true;  // a port on nobody's way
  CHECK(said().empty());
  find("0000:18:01.0").acs_redirect = true;
  CHECK(said() == "acs-on");
  find("0000:18:01.0").acs_redirect = false;
  find("0000:18:00.0").acs_redirect = true;
  CHECK(said() == "acs-on");
}

TEST_CASE("PCIe links that run below what card and slot can") {
  auto host = machine();
  auto& card = (*host.pci)[5];
  auto& slot = (*host.pci)[4];
  auto& gpu_card = (*host.pci)[3];
  REQUIRE(card.id == "0000:1a:00.0");
  card.link_width = card.max_link_width = slot.max_link_width = 16;
  card.link_gts = card.max_link_gts = slot.max_link_gts = 32;
  const auto findings = [&] { return choose_gpus(host, Topology(host), hcas(host).hcas).findings; };
  CHECK(findings().empty());
  card.link_width = 8;
  CHECK(codes(findings()) == "pcie-degraded");
  slot.max_link_width = 8;  // the slot has no more
  CHECK(findings().empty());
  card.link_gts = 16;
  CHECK(codes(findings()) == "pcie-degraded");
  slot.max_link_gts = 16;
  CHECK(findings().empty());
  slot.max_link_width.reset();  // not recorded: said with less weight
  REQUIRE(codes(findings()) == "pcie-degraded");
  CHECK(findings().front().severity == Severity::info);
  card.link_width = 16;
  gpu_card.link_gts = 2.5;  // an idle GPU
  gpu_card.max_link_gts = 32;
  CHECK(findings().empty());
  gpu_card.link_width = 4;
  gpu_card.max_link_width = 16;
  CHECK(codes(findings()) == "pcie-degraded");
}
