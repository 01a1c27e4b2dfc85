// SPDX-License-Identifier: Apache-2.0
// NCCL's GID index, worked out by hand for each generation of releases from the rules of its source.
#include "nccl_rules/gid_search.h"

#include <catch2/catch.hpp>

#include "build.h"
#include "nccl_rules/hcas.h"

using namespace test;

namespace {

const std::vector<NcclRelease> kSearching{{2, 21, 5}, {2, 22, 3}, {2, 23, 4}, {2, 24, 3}, {2, 25, 1}, {2, 26, 2},
                                          {2, 27, 3}, {2, 27, 7}, {2, 28, 9}, {2, 29, 7}, {2, 30, 7}};
const std::vector<NcclRelease> kFixed{{2, 18, 1}, {2, 18, 6}, {2, 19, 3}, {2, 20, 5}};

GidSettings settings(const NcclRelease& release, const std::map<std::string, std::string>& variables) {
  return GidSettings::read(release, [&](std::string_view name) -> const std::string* {
    const auto found = variables.find(std::string(name));
    return found == variables.end() ? nullptr : &found->second;
  });
}

/// "3", "none", "fails"
std::string pick(const NcclRelease& release, const std::vector<GidEntry>& entries,
                 const std::map<std::string, std::string>& variables = {}, std::string_view layer = "Ethernet") {
  const auto got = nccl_gid(release, layer, entries, settings(release, variables));
  if (got.fails) return "fails";
  return got.index ? std::to_string(*got.index) : "none";
}

}  // namespace

TEST_CASE("2.18 to 2.20 take index 0, or the one that is set, and look at nothing") {
  const auto regular = table("eth1", "10.0.0.1");
  for (const auto& release : kFixed) {
    CHECK(pick(release, regular) == "0");
    CHECK(pick(release, regular, {{"NCCL_IB_GID_INDEX", "3"}}) == "3");
    CHECK(pick(release, regular, {{"NCCL_IB_GID_INDEX", "0x5"}}) == "5");
    CHECK(pick(release, regular, {{"NCCL_IB_GID_INDEX", ""}}) == "0");
    CHECK(pick(release, regular, {{"NCCL_IB_ADDR_FAMILY", "AF_INET6"}, {"NCCL_IB_ADDR_RANGE", "10.0.0.0/8"}}) == "0");
    CHECK(pick(release, {}) == "0");
  }
}

TEST_CASE("2.21 and later search: IPv4 and RoCE v2 first") {
  const auto regular = table("eth1", "10.0.0.1");
  auto two = regular;  // and a second address
  two.push_back(gid(4, "10.7.0.1", "IB/RoCE v1", "eth1.7"));
  two.push_back(gid(5, "10.7.0.1", "RoCE v2", "eth1.7"));
  for (const auto& release : kSearching) {
    CAPTURE(release.text());
    CHECK(pick(release, regular) == "3");
    CHECK(pick(release, regular, {{"NCCL_IB_GID_INDEX", "1"}}) == "1");
    CHECK(pick(release, regular, {{"NCCL_IB_GID_INDEX", "-1"}}) == "3");
    CHECK(pick(release, regular, {{"NCCL_IB_GID_INDEX", ""}}) == "3");
    CHECK(pick(release, regular, {{"NCCL_IB_ROCE_VERSION_NUM", "1"}}) == "2");
    // No IPv6 address but link-local ones: the search never leaves index 0.
    CHECK(pick(release, regular, {{"NCCL_IB_ADDR_FAMILY", "AF_INET6"}}) == "0");
    CHECK(pick(release, regular, {{"NCCL_IB_ADDR_RANGE", "10.9.0.0/16"}}) == "0");
    // An equally good later entry does not replace an earlier one; a range tells them apart.
    CHECK(pick(release, two) == "3");
    CHECK(pick(release, two, {{"NCCL_IB_ADDR_RANGE", "10.7.0.0/24"}}) == "5");
    CHECK(pick(release, {}) == "0");
  }
}

TEST_CASE("an IPv6-only table needs the family") {
  const std::vector<GidEntry> entries{gid(0, "fe80::1", "IB/RoCE v1", "eth1"), gid(1, "fe80::1", "RoCE v2", "eth1"),
                                      gid(2, "fd00::11", "IB/RoCE v1", "eth1"), gid(3, "fd00::11", "RoCE v2", "eth1")};
  for (const auto& release : kSearching) {
    CHECK(pick(release, entries) == "0");
    CHECK(pick(release, entries, {{"NCCL_IB_ADDR_FAMILY", "AF_INET6"}}) == "3");
  }
}

TEST_CASE("an empty first entry, as in a pod") {
  const auto ipv4 = table("net1", "10.0.0.1", 4);
  std::vector<GidEntry> ipv6{gid(4, "fe80::1", "IB/RoCE v1", "net1"), gid(5, "fe80::1", "RoCE v2", "net1"),
                             gid(6, "fd00::11", "IB/RoCE v1", "net1"), gid(7, "fd00::11", "RoCE v2", "net1")};
  for (const auto& release : kSearching) {
    CAPTURE(release.text());
    CHECK(pick(release, ipv4) == "7");
    // The type of the empty entry 0 cannot be read: up to 2.25 the connection fails, later it is passed over.
    CHECK(pick(release, ipv6, {{"NCCL_IB_ADDR_FAMILY", "AF_INET6"}}) == (release.at_least(26) ? "7" : "fails"));
  }
}

TEST_CASE("another family at index 0 gives way to anything, an empty entry too") {
  const std::vector<GidEntry> ipv4_first{gid(0, "10.0.0.1", "IB/RoCE v1", "eth1"),
                                         gid(1, "10.0.0.1", "RoCE v2", "eth1")};
  for (const auto& release : kSearching) {
    CHECK(pick(release, ipv4_first) == "1");
    CHECK(pick(release, ipv4_first, {{"NCCL_IB_ADDR_FAMILY", "AF_INET6"}}) == "2");
    CHECK(pick(release, ipv4_first, {{"NCCL_IB_ADDR_FAMILY", "AF_INET6"}, {"NCCL_IB_ADDR_RANGE", "fd00::/8"}}) == "0");
  }
  const std::vector<GidEntry> v2_first{gid(0, "10.0.0.1", "RoCE v2", "eth1"), gid(1, "10.0.0.1", "IB/RoCE v1", "eth1")};
  for (const auto& release : kSearching) CHECK(pick(release, v2_first) == "0");
}

TEST_CASE("a type that cannot be read") {
  const std::vector<GidEntry> entries{gid(0, "fe80::1", "IB/RoCE v1", "e"), gid(1, "10.0.0.1", "", "e"),
                                      gid(2, "10.0.0.2", "RoCE v2", "e")};
  for (const auto& release : kSearching) CHECK(pick(release, entries) == (release.at_least(26) ? "2" : "fails"));
}

TEST_CASE("families and ranges as NCCL tests them") {
  CHECK(nccl_gid_family(*Gid::parse("::ffff:10.0.0.1")) == Family::inet);
  CHECK(nccl_gid_family(*Gid::parse("ff0e::ffff:10.0.0.1")) == Family::inet);
  CHECK(nccl_gid_family(*Gid::parse("fd00::1")) == Family::inet6);
  CHECK(nccl_gid_family(*Gid::parse("::")) == Family::inet6);
  CHECK_FALSE(settings({2, 22, 3}, {{"NCCL_IB_ADDR_RANGE", "10.0.0.1"}}).range);
  CHECK(settings({2, 23, 4}, {{"NCCL_IB_ADDR_RANGE", "10.0.0.1"}}).range);
  CHECK_FALSE(settings({2, 28, 9}, {{"NCCL_IB_ADDR_RANGE", "fd00::/8"}}).range);
  CHECK(settings({2, 28, 9}, {{"NCCL_IB_ADDR_RANGE", "fd00::/8"}, {"NCCL_IB_ADDR_FAMILY", "AF_INET6"}}).range);
  CHECK_FALSE(settings({2, 28, 9}, {{"NCCL_IB_ADDR_RANGE", "rail0"}}).range);
}

TEST_CASE("InfiniBand goes by LID, and from 2.22 by a routable GID where the port has one") {
  const std::vector<GidEntry> plain{gid(0, "fe80::1", "IB/RoCE v1", ""), gid(1, "fe80::2", "IB/RoCE v1", "")};
  const std::vector<GidEntry> routable{gid(0, "fe80::1", "IB/RoCE v1", ""), gid(1, "fec0:0:7::2", "IB/RoCE v1", "")};
  for (const auto& release : kFixed)
    CHECK(pick(release, routable, {{"NCCL_IB_GID_INDEX", "1"}}, "InfiniBand") == "none");
  for (const auto& release : kSearching) {
    CHECK(pick(release, plain, {{"NCCL_IB_GID_INDEX", "1"}}, "InfiniBand") == "none");
    CHECK(pick(release, routable, {}, "InfiniBand") == (release.at_least(22) ? "1" : "none"));
    CHECK(pick(release, routable, {{"NCCL_IB_ROUTABLE_FLID_GID_INDEX", "0"}}, "InfiniBand") == "none");
  }
}

namespace {

std::string taken(const NcclRelease& release, const HostSnapshot& host, const std::string& list = "") {
  const auto parsed = list.empty() ? std::nullopt : std::optional(NameList::parse(list));
  std::string names;
  for (const auto& port : nccl_hcas(release, *host.rdma, parsed))
    names += (names.empty() ? "" : " ") + port.device->name + ":" + std::to_string(port.port->port);
  return names;
}

}  // namespace

TEST_CASE("the ports that NCCL takes") {
  HostSnapshot host;
  ib(host, "mlx5_1");
  ib(host, "mlx5_1").state = "DOWN";
  ib(host, "mlx5_10");
  ib(host, "mlx5_0");
  device(host, "mlx5_1").pci = "0000:81:00.0";
  device(host, "mlx5_10").pci = "0000:c1:00.0";
  device(host, "mlx5_0").pci = "0000:18:00.0";
  const NcclRelease newer{2, 29, 7}, older{2, 28, 9};
  CHECK(taken(older, host) == "mlx5_1:1 mlx5_10:1 mlx5_0:1");
  CHECK(taken(newer, host) == "mlx5_0:1 mlx5_1:1 mlx5_10:1");
  CHECK(taken(older, host, "mlx5_1") == "mlx5_1:1 mlx5_10:1");
  CHECK(taken(older, host, "=mlx5_1") == "mlx5_1:1");
  CHECK(taken(older, host, "=mlx5_1:2") == "");
  CHECK(taken(older, host, "^mlx5_1") == "mlx5_0:1");
  CHECK(taken(older, host, "^=mlx5_1") == "mlx5_10:1 mlx5_0:1");
  device(host, "mlx5_0").usable = false;
  CHECK(taken(older, host) == "mlx5_1:1 mlx5_10:1");
  device(host, "mlx5_1").ports[0].link_layer = "Unspecified";
  CHECK(taken(older, host) == "mlx5_10:1");
}

TEST_CASE("NCCL stops at its table's end") {
  HostSnapshot host;
  for (int i = 0; i < 40; ++i) ib(host, "mlx5_" + std::to_string(i));
  CHECK(nccl_hcas({2, 18, 3}, *host.rdma, std::nullopt).size() == 16);
  CHECK(nccl_hcas({2, 19, 3}, *host.rdma, std::nullopt).size() == 32);
}

TEST_CASE("a link layer that is not recorded is told by what only one has") {
  RdmaPort port;
  CHECK(link_layer(port) == "");
  port.lid = 12;
  CHECK(link_layer(port) == "InfiniBand");
  port.lid = 0;
  port.gids = table("eth0", "10.0.0.1");
  CHECK(link_layer(port) == "Ethernet");
  port.gids.reset();
  port.netdev = "eth0";
  CHECK(link_layer(port) == "Ethernet");
  port.link_layer = "Unspecified";
  CHECK(link_layer(port) == "");
}
