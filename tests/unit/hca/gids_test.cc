// SPDX-License-Identifier: Apache-2.0
// The GID rules of architecture.md section 4, one test each.
#include "decide/gids.h"

#include <catch2/catch.hpp>

#include "build.h"

using namespace test;

namespace {

/// Indexes of the usable entries, best first; else the problem.
std::string usable(const HostSnapshot& host, const Policy& policy = {}) {
  const View view(host);
  const auto gids = usable_gids(view, policy, host.rdma->front().ports.front());
  std::string text;
  for (const auto& found : gids.usable) text += (text.empty() ? "" : " ") + std::to_string(found.entry->index);
  return text.empty() ? gids.problem : text;
}

std::vector<GidEntry>& entries(HostSnapshot& host) { return *host.rdma->front().ports.front().gids; }

}  // namespace

TEST_CASE("not link-local, then v2 before v1, then the lowest index") {
  HostSnapshot host;
  roce(host, "mlx5_0", "eth1", "10.0.0.1");
  CHECK(usable(host) == "3 2 1 0");
  entries(host).push_back(gid(9, "10.0.0.1", "RoCE v2", "eth1"));
  CHECK(usable(host) == "3 9 2 1 0");
  entries(host)[3].type.reset();  // unreadable: last of its kind
  CHECK(usable(host) == "9 2 3 1 0");
}

TEST_CASE("169.254 is link-local too") {
  HostSnapshot host;
  roce(host, "mlx5_0", "eth1", "169.254.3.4");
  host.links->front().addr_info.push_back({*IpAddress::parse("fd00::5"), 64, "global", {}, {}});
  entries(host).push_back(gid(4, "fd00::5", "IB/RoCE v1", "eth1"));
  CHECK(usable(host).substr(0, 1) == "4");
}

TEST_CASE("entries of other namespaces") {
  HostSnapshot host;
  roce(host, "mlx5_0", "eth1", "10.0.0.1");
  host.links->front().ifname = "eth7";
  CHECK(usable(host).find("not in this namespace") != std::string::npos);
  // An older kernel's name for another namespace's device, which happens to exist here with another address.
  host.links->front().ifname = "eth1";
  host.links->front().addr_info.front().local = *IpAddress::parse("172.17.0.2");
  CHECK(usable(host) == "1 0");
  for (auto& entry : entries(host)) {
    entry.ndev.reset();
    entry.type.reset();
  }
  host.rdma->front().ports.front().netdev.reset();
  CHECK(usable(host).find("another network namespace") != std::string::npos);
  entries(host)[3].gid = *Gid::parse("::ffff:172.17.0.2");  // unreadable, but the address is here
  CHECK(usable(host) == "3");
}

TEST_CASE("zero entries, empty tables, unknown tables") {
  HostSnapshot host;
  roce(host, "mlx5_0", "eth1", "10.0.0.1");
  for (auto& entry : entries(host)) entry.gid = Gid{};
  CHECK(usable(host) == "the GID table reads as empty here");
  host.rdma->front().ports.front().gids.reset();
  CHECK(usable(host) == "the GID table cannot be read");
}

TEST_CASE("the netdev must be up and physical") {
  HostSnapshot host;
  roce(host, "mlx5_0", "eth1", "10.0.0.1");
  auto& netdev = host.links->front();
  netdev.flags = {"BROADCAST"};
  netdev.operstate = "DOWN";
  CHECK(usable(host).find("which is down") != std::string::npos);
  netdev.flags = {"UP", "LOWER_UP"};
  netdev.operstate = "UP";
  CHECK(usable(host).substr(0, 1) == "3");
  netdev.kind = "dummy";
  netdev.parentbus.reset();
  host.links->push_back(link(9, "eth9", "10.9.0.1"));
  CHECK(usable(host).find("which is virtual") != std::string::npos);
}

TEST_CASE("a VLAN and a bond on the port are as good as the port") {
  HostSnapshot host;
  roce(host, "mlx5_bond_0", "eth0", "");
  auto bond = link(2, "bond0", "10.0.0.1");
  bond.kind = "bond";
  bond.parentbus.reset();
  host.links->push_back(bond);
  host.links->front().master = "bond0";
  host.links->front().slave_kind = "bond";
  entries(host) = table("bond0", "10.0.0.1");
  host.rdma->front().ports.front().netdev = "bond0";
  CHECK(usable(host).substr(0, 1) == "3");
}

TEST_CASE("the cluster's family, the peers' subnet, the operator's subnets") {
  HostSnapshot host;
  roce(host, "mlx5_0", "eth1", "10.0.0.1");
  auto& netdev = host.links->front();
  netdev.addr_info.push_back({*IpAddress::parse("fd00::1"), 64, "global", {}, {}});
  netdev.addr_info.push_back({*IpAddress::parse("10.7.0.1"), 24, "global", {}, {}});
  entries(host).push_back(gid(4, "fd00::1", "RoCE v2", "eth1"));
  entries(host).push_back(gid(5, "10.7.0.1", "RoCE v2", "eth1"));
  CHECK(usable(host).substr(0, 5) == "3 5 4");
  host.peers = {*IpAddress::parse("10.7.0.2")};
  CHECK(usable(host).substr(0, 5) == "5 3 4");
  host.peers = {*IpAddress::parse("192.168.0.2")};  // on another network: tells nothing here
  CHECK(usable(host).substr(0, 5) == "3 5 4");
  host.peers = {*IpAddress::parse("fd00::2")};
  CHECK(usable(host).substr(0, 1) == "4");
  Policy policy;
  policy.subnets = {*Prefix::parse("10.7.0.0/16")};
  CHECK(usable(host, policy).substr(0, 1) == "5");
}

TEST_CASE("of two entries with one address the one on the device itself") {
  HostSnapshot host;
  roce(host, "mlx5_0", "eth1", "10.0.0.1");
  auto twin = link(2, "macvlan0", "10.0.0.1");
  twin.kind = "macvlan";
  twin.lower = "eth1";
  twin.parentbus.reset();
  host.links->push_back(twin);
  entries(host)[3].ndev = "macvlan0";
  entries(host).push_back(gid(7, "10.0.0.1", "RoCE v2", "eth1"));
  CHECK(usable(host).substr(0, 3) == "7 3");
}

TEST_CASE("an address on the device or its VLAN comes before one on a macvlan") {
  HostSnapshot host;
  roce(host, "mlx5_0", "eth1", "10.0.0.1");
  auto upper = link(2, "upper0", "10.88.0.1");
  upper.lower = "eth1";
  upper.parentbus.reset();
  for (const auto& [kind, order] : std::map<std::string, std::string>{
           {"macvlan", "4 3"}, {"macvtap", "4 3"}, {"ipvlan", "4 3"}, {"ipvtap", "4 3"}, {"vlan", "3 4"}}) {
    INFO(kind);
    auto with = host;
    upper.kind = kind;
    with.links->push_back(upper);
    entries(with)[3] = gid(3, "10.88.0.1", "RoCE v2", "upper0");
    entries(with).push_back(gid(4, "10.0.0.1", "RoCE v2", "eth1"));
    CHECK(usable(with).substr(0, 3) == order);
    with.peers = {*IpAddress::parse("10.88.0.7")};  // what the peers use counts more
    CHECK(usable(with).substr(0, 1) == "3");
    entries(with).pop_back();
    with.peers.clear();
    CHECK(usable(with).substr(0, 1) == "3");  // all there is
  }
}

TEST_CASE("when a pinned index is stale") {
  HostSnapshot host;
  roce(host, "mlx5_0", "eth1", "10.0.0.1");
  const auto stale = [&](int index) {
    const View view(host);
    const auto& port = host.rdma->front().ports.front();
    return stale_pin(port, usable_gids(view, {}, port), index).value_or("good");
  };
  CHECK(stale(3) == "good");
  CHECK(stale(2) == "entry 2 is RoCE v1");
  CHECK(stale(1).find("link-local") != std::string::npos);
  CHECK(stale(7) == "entry 7 is empty");
  entries(host)[3].ndev = "eth99";
  CHECK(stale(3) == "entry 3 is not usable here");
  CHECK(stale(2) == "good");  // v1, and nothing better is left
  entries(host).resize(2);
  CHECK(stale(1) == "good");
  entries(host).clear();
  CHECK(stale(0) == "entry 0 is empty");
}
