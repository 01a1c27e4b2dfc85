// SPDX-License-Identifier: Apache-2.0
// What a host offers to be tried, for decisions over sockets, RoCE and InfiniBand.
#include "check/offer.h"

#include <catch2/catch.hpp>

using namespace topoguard;
using namespace topoguard::check;

namespace {

HostSnapshot host() {
  HostSnapshot out;
  Link bond, rail;
  bond.ifname = "bond0";
  bond.ifindex = 5;
  bond.mtu = 1500;
  rail.ifname = "eth2";
  rail.ifindex = 7;
  rail.mtu = 9000;
  out.links = std::vector<Link>{bond, rail};
  return out;
}

Decision over_roce() {
  Decision out;
  out.transport = Transport::ib;
  out.socket.ifnames = {"bond0"};
  out.socket.addresses = {{"bond0", *IpAddress::parse("10.0.0.1")}};
  HcaChoice hca;
  hca.name = "mlx5_0";
  hca.link_layer = "Ethernet";
  hca.gid = Gid::parse("::ffff:10.1.0.1");
  hca.netdev = "eth2";
  out.hcas = {hca};
  return out;
}

}  // namespace

TEST_CASE("a RoCE host offers its bootstrap address and the address of each HCA's GID") {
  const auto found = offers(host(), over_roce());
  REQUIRE(found.size() == 2);
  CHECK(found[0].use == Use::socket);
  CHECK(found[0].text() == "bond0 10.0.0.1");
  CHECK(found[0].mtu == 1500);
  CHECK(found[1].use == Use::rdma);
  CHECK(found[1].text() == "mlx5_0 (eth2) 10.1.0.1");
  CHECK(found[1].mtu == 9000);
  CHECK(found[1].ifindex == 7);
  CHECK(of_use(found, Use::rdma) == std::vector<std::size_t>{1});
}

TEST_CASE("what TCP cannot try is not offered: InfiniBand ports, HCAs without GID or netdev, loopback") {
  Decision decision = over_roce();
  decision.hcas[0].link_layer = "InfiniBand";
  CHECK(of_use(offers(host(), decision), Use::rdma).empty());
  decision = over_roce();
  decision.hcas[0].gid.reset();
  CHECK(of_use(offers(host(), decision), Use::rdma).empty());
  decision = over_roce();
  decision.hcas[0].netdev.reset();
  CHECK(of_use(offers(host(), decision), Use::rdma).empty());
  decision = over_roce();
  decision.socket.addresses["bond0"] = *IpAddress::parse("127.0.0.1");
  CHECK(of_use(offers(host(), decision), Use::socket).empty());
}

TEST_CASE("an interface that the snapshot does not know is offered with an unknown MTU") {
  Decision decision = over_roce();
  decision.hcas[0].netdev = "eth9";
  const auto found = offers(host(), decision);
  REQUIRE(found.size() == 2);
  CHECK(found[1].mtu == 0);
}
