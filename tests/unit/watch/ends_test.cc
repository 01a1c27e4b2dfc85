// SPDX-License-Identifier: Apache-2.0
#include "watch/ends.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <catch2/catch.hpp>
#include <cstring>

using namespace topoguard;
using namespace topoguard::watch;

namespace {

Session session_with_hca() {
  Session session;
  session.decided = true;
  session.decision.transport = Transport::ib;
  HcaChoice hca;
  hca.name = "mlx5_0";
  hca.port = 1;
  hca.link_layer = "Ethernet";
  hca.gid_index = 3;
  hca.gid = Gid::parse("::ffff:10.0.0.1");
  hca.netdev = "eth0";
  session.decision.hcas = {hca};
  RdmaPort port;
  port.active_mtu = 4096;
  port.link_layer = "Ethernet";
  port.gids = std::vector<GidEntry>{{1, *Gid::parse("::ffff:10.0.0.1"), "IB/RoCE v1", "eth0"},
                                    {3, *Gid::parse("::ffff:10.0.0.1"), "RoCE v2", "eth0"}};
  RdmaDevice device;
  device.name = "mlx5_0";
  device.ports = {port};
  session.host.rdma = std::vector<RdmaDevice>{device};
  return session;
}

OwnEnd hca_end(int port = 1) {
  return own_end(session_with_hca(), Carrier::ib, "IB", {0, "mlx5_0", port, 400000}, 22809);
}

std::vector<std::string> codes(const OwnEnd& own, const Trailer& peer) {
  std::vector<std::string> list;
  for (const auto& finding : differences(own, peer, "the peer at 10.0.0.2")) {
    CHECK(finding.message.find("mlx5_0 port 1") == 0);
    CHECK(finding.message.find("the peer at 10.0.0.2") != std::string::npos);
    CHECK(finding.remedy != "");
    list.push_back(std::string(severity_name(finding.severity)) + " " + finding.code);
  }
  return list;
}

using Codes = std::vector<std::string>;

}  // namespace

TEST_CASE("an HCA's end: GID, RoCE version of that very entry, MTU, speed") {
  // NCCL numbers the ports of one card through: 2 here is port 1 of a second HCA.
  for (const int port : {1, 2}) {
    const OwnEnd own = hca_end(port);
    CHECK(own.device.port == 1);
    CHECK(own.netdev == "eth0");
    CHECK(own.gid_index == 3);
    CHECK(own.facts.link_layer == LinkLayer::ethernet);
    CHECK(own.facts.roce_version == 2);
    CHECK(own.facts.mtu == 4096);
    CHECK(own.facts.speed_100mbps == 4000);
    CHECK(address_text(own.facts) == "::ffff:10.0.0.1");
    CHECK(detail_text(own.facts) == "NCCL 2.28.9, RoCE v2, MTU 4096, 400 Gb/s");
  }
}

TEST_CASE("what is not known stays unknown, and differs from nothing") {
  const OwnEnd own = own_end(session_with_hca(), Carrier::ib, "IB", {7, "mlx5_9", 1, 0}, 0);
  CHECK(own.facts.address.is_zero());
  CHECK(own.facts.link_layer == LinkLayer::unknown);
  Trailer peer = hca_end().facts;
  CHECK(differences(own, peer, "x").empty());
  CHECK(differences(own_end(Session(), Carrier::unknown, "Foreign", {0, "", 0, 0}, 22809), Trailer(), "x").empty());
}

TEST_CASE("sockets of two address families do connect: no difference") {
  OwnEnd own = own_end(Session(), Carrier::socket, "Socket", {0, "eth0", 0, 0}, 22809);
  Trailer peer = own.facts;
  set_address(own.facts, *IpAddress::parse("fd00::1"));
  set_address(peer, *IpAddress::parse("10.0.0.2"));
  own.facts.link_layer = peer.link_layer = LinkLayer::ethernet;
  REQUIRE(own.facts.inet6 != peer.inet6);
  CHECK(codes(own, peer) == Codes{});
}

TEST_CASE("equal ends do not differ") { CHECK(codes(hca_end(), hca_end().facts) == Codes{}); }

TEST_CASE("each difference has its code; only what can never connect is an error") {
  const OwnEnd own = hca_end();
  Trailer peer = own.facts;
  SECTION("transport") {
    peer.carrier = Carrier::socket;
    peer.mtu = 1;
    CHECK(codes(own, peer) == Codes{"error transport-mismatch"});
  }
  SECTION("link layer") {
    peer.link_layer = LinkLayer::infiniband;
    CHECK(codes(own, peer) == Codes{"error link-layer-mismatch"});
  }
  SECTION("RoCE version") {
    peer.roce_version = 1;
    CHECK(codes(own, peer) == Codes{"warning gid-type-mismatch"});
  }
  SECTION("family: no queue pair can have both") {
    peer.inet6 = true;
    CHECK(codes(own, peer) == Codes{"warning gid-type-mismatch"});
  }
  SECTION("MTU") {
    peer.mtu = 1024;
    CHECK(codes(own, peer) == Codes{"warning mtu-mismatch"});
  }
  SECTION("speed") {
    peer.speed_100mbps = 1000;
    CHECK(codes(own, peer) == Codes{"warning speed-mismatch"});
  }
  SECTION("release") {
    peer.nccl_release = 22703;
    CHECK(codes(own, peer) == Codes{"warning nccl-version-mismatch"});
  }
  SECTION("settings") {
    peer.settings ^= 1;
    CHECK(codes(own, peer) == Codes{"warning env-mismatch"});
  }
  SECTION("decision") {
    peer.decision ^= 1;
    CHECK(codes(own, peer) == Codes{"warning decision-mismatch"});
  }
  SECTION("an unknown link layer or RoCE version") {
    peer.link_layer = LinkLayer::unknown;
    peer.roce_version = 0;
    peer.mtu = 0;
    CHECK(codes(own, peer) == Codes{});
  }
}

TEST_CASE("settings that name a host's own things or its logs need not agree; others must") {
  const auto print = [](const char* name) {
    Session session = session_with_hca();
    session.host.env[name] = "1";
    return own_end(session, Carrier::ib, "IB", {0, "mlx5_0", 1, 0}, 0).facts.settings;
  };
  const auto none = hca_end().facts.settings;
  for (const char* name : {"NCCL_HOSTID", "NCCL_SOCKET_IFNAME", "NCCL_IB_HCA", "NCCL_DEBUG", "NCCL_DEBUG_FILE",
                           "NCCL_TOPO_FILE", "TOPOGUARD_MODE", "PATH"}) {
    INFO(name);
    CHECK(print(name) == none);
  }
  for (const char* name : {"NCCL_SOCKET_NTHREADS", "NCCL_IB_TC", "NCCL_ALGO", "NCCL_PROTO"}) {
    INFO(name);
    CHECK(print(name) != none);
  }
  CHECK(print("NCCL_ALGO") != print("NCCL_PROTO"));
}

TEST_CASE("the socket address at the start of a handle") {
  unsigned char handle[128] = {};
  CHECK(!handle_address(handle));
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_port = htons(41234);
  inet_pton(AF_INET, "10.22.0.2", &in.sin_addr);
  std::memcpy(handle, &in, sizeof in);
  REQUIRE(handle_address(handle));
  CHECK(handle_address(handle)->text() == "10.22.0.2:41234");
  sockaddr_in6 in6{};
  in6.sin6_family = AF_INET6;
  in6.sin6_port = htons(5);
  inet_pton(AF_INET6, "fd00::2", &in6.sin6_addr);
  std::memcpy(handle, &in6, sizeof in6);
  REQUIRE(handle_address(handle));
  CHECK(handle_address(handle)->text() == "[fd00::2]:5");
  in6.sin6_port = 0;
  std::memcpy(handle, &in6, sizeof in6);
  CHECK(!handle_address(handle));
  std::memset(handle, 0xEE, sizeof handle);
  CHECK(!handle_address(handle));
}
