// SPDX-License-Identifier: Apache-2.0
#include "import/import.h"

#include <catch2/catch.hpp>
#include <random>

#include "document/document.h"
#include "document/printable.h"

using namespace topoguard;

namespace {

struct Result {
  HostSnapshot host;
  Imported imported;
};

Result paste(Paste kind, std::string_view text) {
  Result out;
  out.imported = import_paste(kind, text, "f", out.host);
  for (const std::string& problem : out.imported.problems) {
    CHECK(problem == printable(problem));
    CHECK(problem.rfind("f", 0) == 0);
  }
  return out;
}

const std::string kAddresses = R"([{"ifindex":1,"ifname":"lo","flags":["LOOPBACK","UP"],"mtu":65536,"addr_info":[]},{},
 {"ifindex":2,"link":null,"ifname":"eth0","flags":["UP"],"mtu":1500,"addr_info":[{"family":"inet","local":"10.0.0.11","prefixlen":24}]}])";

const std::string kGids =
    "DEV     PORT    INDEX   GID                                     IPv4            VER     DEV\n"
    "---     ----    -----   ---                                     ------------    ---     ---\n"
    "mlx5_0  1       0       fe80:0000:0000:0000:0e42:a1ff:fe2b:3c4d                 v1      eth2\n"
    "mlx5_0  1       3       0000:0000:0000:0000:0000:ffff:0a00:000b 10.0.0.11       v2      eth2\r\n"
    "mlx5_1  2       0       fe80:0000:0000:0000:0e42:a1ff:fe2b:3c4e                 v1\n"
    "n_gids_found=3\n";

const std::string kPaths =
    "\t\x1b[4mGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
    "GPU0\t X \tNV18\tPIX\tSYS\t0-47,96-143\t0\t\tN/A\n"
    "GPU1\tNV18\t X \tSYS\tNODE\t48-95,144-191\t1\t\tN/A\n"
    "NIC0\tPIX\tSYS\t X \tSYS\t\t\t\t\nNIC1\tSYS\tNODE\tSYS\t X \t\t\t\t\n\n"
    "Legend:\n\n  X    = Self\n  SYS  = Connection traversing PCIe as well as the SMP interconnect\n\n"
    "NIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n";

const std::string kTopology = R"(<system version="1">
  <cpu numaid="1" affinity="ffff0000,00000000" arch="x86_64">
    <pci busid="FFFF:ff:01.0" class="0x060400" link_speed="16.0 GT/s PCIe" link_width="16">
      <pci busid="0000:17:00.0" class="0x030200" link_speed="32 GT/s PCIe/s" link_width="16"><gpu dev="3"/></pci>
      <pci busid="0000:18:00.0" class="0x020700" link_speed="" link_width="8">
        <nic><net name="mlx5_4" port="1" speed="200000" guid="0x1"/><net name="eth0" port="0" speed="10000"/></nic>
      </pci>
    </pci>
  </cpu>
</system>
)";

}  // namespace

TEST_CASE("kinds are told by content") {
  CHECK(paste_kind(kAddresses) == Paste::addresses);
  CHECK(paste_kind(R"([{"dst":"default","dev":"eth0"}])") == Paste::routes);
  CHECK(paste_kind(kGids) == Paste::gids);
  CHECK(paste_kind(kPaths) == Paste::gpu_paths);
  CHECK(paste_kind(kTopology) == Paste::topology);
  for (const char* none : {"", "  \n", "hello", "[]", "[1,2]", "{\"a\":1}"}) CHECK_FALSE(paste_kind(none));
}

TEST_CASE("addresses and routes; a bad entry is named and skipped") {
  const Result good = paste(Paste::addresses, kAddresses);
  CHECK(good.imported.used == 2);
  CHECK(good.imported.problems.empty());
  CHECK(good.host.links->at(1).addr_info.at(0).local.text() == "10.0.0.11");
  const Result bad = paste(Paste::addresses, R"([{"ifindex":1,"ifname":"lo"},{"ifindex":"x","ifname":"eth0"}])");
  CHECK(bad.imported.used == 1);
  CHECK(bad.imported.problems ==
        std::vector<std::string>{"f: /1/ifindex: expected a link number above 0, found \"x\"; skipped"});
  HostSnapshot both;
  import_paste(Paste::routes, R"([{"dst":"default","gateway":"10.0.0.1","dev":"eth0"}])", "4", both);
  import_paste(Paste::routes, R"([{"dst":"default","gateway":"fe80::1","dev":"eth0"},{"dst":"x"}])", "6", both);
  CHECK(both.routes->size() == 2);
  CHECK(paste(Paste::routes, "[{\"dst\":").imported.used == 0);
  CHECK(paste(Paste::routes, "[{\"dst\":").imported.problems.size() == 1);
}

TEST_CASE("show_gids") {
  const Result result = paste(Paste::gids, kGids);
  CHECK(result.imported.used == 3);
  CHECK(result.imported.problems.empty());
  const auto& first = result.host.rdma->at(0).ports.at(0);
  CHECK(first.gids->at(1).index == 3);
  CHECK(first.gids->at(1).type == "RoCE v2");
  CHECK(first.gids->at(1).ndev == "eth2");
  CHECK(first.link_layer == "Ethernet");
  CHECK(result.host.rdma->at(1).ports.at(0).port == 2);
  CHECK_FALSE(result.host.rdma->at(1).ports.at(0).link_layer);
  const Result bad = paste(
      Paste::gids,
      kGids +
          "mlx5_0 1 zero fe80::1 v1 eth2\nmlx5_0 1 3 fe80::2 v1 eth2\nmlx5_0 1 9 ::ffff:10.0.0.9 10.0.0.8 v2 eth2\n"
          "mlx5_0 1 8 fe80::7 v1 eth2 what\n");
  CHECK(bad.imported.used == 3);
  REQUIRE(bad.imported.problems.size() == 4);
  CHECK_THAT(bad.imported.problems[0], Catch::StartsWith("f:7: expected DEV PORT INDEX GID"));
  CHECK_THAT(bad.imported.problems[1], Catch::StartsWith("f:8: expected each index once"));
  CHECK_THAT(bad.imported.problems[2], Catch::StartsWith("f:9: expected the GID's own address"));
}

TEST_CASE("nvidia-smi topo -m") {
  const Result result = paste(Paste::gpu_paths, kPaths);
  CHECK(result.imported.problems.empty());
  REQUIRE(result.host.paths->size() == 4);
  CHECK(result.host.paths->at(0).device == "mlx5_0");
  CHECK(result.host.paths->at(0).path == PathClass::PIX);
  CHECK(result.host.paths->at(3).path == PathClass::NODE);
  CHECK(result.host.gpus->at(1).numa_node == 1);
  CHECK(result.host.numa->at(0).cpus.text() == "0-47,96-143");
  // names in the heading, as drivers before 525 printed them
  const Result old = paste(Paste::gpu_paths,
                           "        GPU0    mlx5_0  CPU Affinity\nGPU0     X      PHB     0-3\nmlx5_0  PHB      X\n");
  CHECK(old.host.paths->at(0).device == "mlx5_0");
  CHECK(old.imported.problems.empty());
  const Result bad = paste(Paste::gpu_paths,
                           "\tGPU0\tNIC0\tNIC1\nGPU0\t X \tPIX\tFAR\nGPU1\tX\nwhat\n\nNIC Legend:\n\n  NIC1: mlx5_1\n");
  CHECK_FALSE(bad.host.paths);
  REQUIRE(bad.imported.problems.size() == 4);
  CHECK_THAT(bad.imported.problems[0], Catch::StartsWith("f:3: expected GPU<n> and 3 path classes"));
  CHECK_THAT(bad.imported.problems[2], Catch::StartsWith("f:2: expected a NIC Legend that names NIC0"));
  CHECK_THAT(bad.imported.problems[3], Catch::Contains("PIX, PXB, PHB, NODE or SYS under NIC1, found \"FAR\""));
}

TEST_CASE("an NCCL topology file") {
  const Result result = paste(Paste::topology, kTopology);
  CHECK(result.imported.problems.empty());
  REQUIRE(result.host.pci->size() == 3);
  CHECK(result.host.pci->at(0).id == "ffff:ff:01.0");
  CHECK(result.host.pci->at(1).parent == "ffff:ff:01.0");
  CHECK(result.host.pci->at(1).link_gts == 32.0);
  CHECK_FALSE(result.host.pci->at(2).link_gts);
  CHECK(result.host.pci->at(2).link_width == 8);
  CHECK(result.host.numa->at(0).node == 1);
  CHECK(result.host.numa->at(0).cpus.text() == "48-63");
  REQUIRE(result.host.gpus->size() == 1);
  CHECK(result.host.gpus->at(0).index == 3);
  CHECK(result.host.gpus->at(0).numa_node == 1);
  REQUIRE(result.host.rdma->size() == 1);
  CHECK(result.host.rdma->at(0).name == "mlx5_4");
  CHECK(result.host.rdma->at(0).pci == "0000:18:00.0");
  CHECK(result.host.rdma->at(0).ports.at(0).rate_gbps == 200.0);
}

TEST_CASE("what is wrong in a topology file is named with its line") {
  const Result bad = paste(Paste::topology,
                           "<system>\n<cpu numaid=\"x\"/>\n<pci busid=\"17\"/>\n<pci busid=\"0000:17:00.0\"/>\n<pci "
                           "busid=\"0000:17:00.0\"/>\n"
                           "<cpu numaid=\"0\" affinity=\"zz\"/><nic><net port=\"1\"/></nic></system>");
  CHECK(bad.host.pci->size() == 1);
  REQUIRE(bad.imported.problems.size() == 5);
  const int lines[] = {2, 3, 5, 6, 6};
  for (std::size_t i = 0; i < 5; ++i)
    CHECK_THAT(bad.imported.problems[i], Catch::StartsWith("f:" + std::to_string(lines[i]) + ":"));
  for (const std::string& garbage : {std::string("<system><cpu>"), std::string("<other/>"), std::string("<"),
                                     std::string("<system a=\"\xff\"/>"), std::string("<a>\0</a>", 8)}) {
    const Result none = paste(Paste::topology, garbage);
    CHECK(none.imported.used == 0);
    CHECK(none.imported.problems.size() == 1);
  }
  std::string deep = "<system>";
  for (int i = 0; i < 50; ++i) deep += "<nic>";
  for (int i = 0; i < 50; ++i) deep += "</nic>";
  CHECK_THAT(paste(Paste::topology, deep + "</system>").imported.problems.at(0), Catch::Contains("32 levels"));
  std::string bomb = "<system>";
  for (int i = 0; i < 200000; ++i) bomb += "<pci>";
  CHECK(paste(Paste::topology, bomb).imported.used == 0);
}

TEST_CASE("size is bounded, problems are counted, random damage stays harmless") {
  CHECK_THAT(paste(Paste::gids, std::string((16 << 20) + 1, 'x')).imported.problems.at(0), Catch::Contains("16 MiB"));
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "bad line here\n";
  const Result result = paste(Paste::gids, many);
  CHECK(result.imported.problems.size() == 21);
  CHECK(result.imported.problems.back() == "f: 980 more lines were skipped");
  std::mt19937 random(11);
  const std::pair<Paste, const std::string*> inputs[] = {{Paste::addresses, &kAddresses},
                                                         {Paste::gids, &kGids},
                                                         {Paste::gpu_paths, &kPaths},
                                                         {Paste::topology, &kTopology}};
  for (int round = 0; round < 800; ++round) {
    const auto& [kind, good] = inputs[round % 4];
    std::string text = *good;
    for (int change = 0; change < 4; ++change) text[random() % text.size()] = static_cast<char>(random() % 256);
    HostSnapshot host;
    const Imported imported = import_paste(kind, text, "f", host);
    for (const std::string& problem : imported.problems)
      if (problem != printable(problem)) FAIL(problem);
    const ReadSnapshot again = read_snapshot(write_snapshot(host), "again");
    if (!again.host) FAIL(again.error);
  }
}
