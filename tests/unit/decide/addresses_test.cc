// SPDX-License-Identifier: Apache-2.0
// Addresses and routes of unusual kinds, and records that leave things out.
#include "hosts.h"

using namespace test;

TEST_CASE("IPv6") {
  Host host;
  host.nic("eno1", {"2001:db8:1::11/64", "fe80::1/64"});
  host.route("default6", "eno1", "fe80::ff");
  auto decision = host.decide();
  CHECK(decision.socket.family == Family::inet6);
  CHECK(decision.env.empty());

  host.get("eno1").addr_info[0].deprecated = true;
  host.get("eno1").addr_info.insert(host.get("eno1").addr_info.begin() + 1, address("2001:db8:1::12/64"));
  decision = host.decide();
  CHECK(decision.socket.addresses.at("eno1").text() == "2001:db8:1::12");
  CHECK(finds(decision, "address-not-steerable"));

  host.get("eno1").addr_info.insert(host.get("eno1").addr_info.begin(), address("169.254.3.3/16"));
  decision = host.decide();
  CHECK(decision.socket.addresses.at("eno1").family == Family::inet6);
  CHECK(env(decision, "NCCL_SOCKET_FAMILY") == "AF_INET6");
}

TEST_CASE("a record without details: ip -j addr, without -d") {
  const auto plain = [](Link& link) {
    link.kind = link.slave_kind = link.parentbus = link.parentdev = link.driver = std::nullopt;
    link.speed_mbps.reset();
  };
  Host host;
  SECTION("bridge, container end, VLAN and bond of a host") {
    host.add("docker0", "bridge", {"172.17.0.1/16"});
    host.veth("veth1", {"fe80::2/64"});
    host.enslave("docker0", {"veth1"});
    host.nic("eno1");
    host.nic("eno2");
    host.add("bond0", "bond");
    host.enslave("bond0", {"eno1", "eno2"});
    host.over("bond0.30", "vlan", "bond0", {"10.0.0.11/24"});
    for (auto& link : *host.snapshot.links) plain(link);
    host.peers({"10.0.0.12"});
    const auto decision = host.decide();
    CHECK(decision.socket.ifnames == Strings{"bond0.30"});
    CHECK(verdict(decision, "docker0").verdict == Verdict::rejected);
    CHECK(verdict(decision, "veth1").verdict == Verdict::rejected);
    CHECK(!finds(decision, "virtual-only"));
  }
  SECTION("a pod") {
    host.snapshot.system.container = "kubernetes";
    host.veth("eth0", {"10.244.1.7/24"});
    host.route("default", "eth0", "10.244.1.1");
    for (auto& link : *host.snapshot.links) plain(link);
    const auto decision = host.decide();
    CHECK(decision.socket.ifnames == Strings{"eth0"});
    CHECK(codes(decision).empty());
  }
}

TEST_CASE("a lone IPv4 address beside an IPv6 subnet") {
  Host host;
  host.nic("eno1", {"192.0.2.243/32", "2001:db8:1::2/64"});
  host.route("default", "eno1", "192.0.2.193");
  host.route("default6", "eno1", "fe80::1").prefsrc = IpAddress::parse("2001:db8:1::2");
  auto decision = host.decide();
  CHECK(decision.socket.family == Family::inet);
  CHECK(decision.env.empty());
  host.peers({"2001:db8:9::2"});
  CHECK(host.decide().socket.family == Family::inet6);
}

TEST_CASE("what is unknown stays unknown") {
  Host host;
  host.nic("eno1", {"10.0.0.11/24"});
  host.nic("eno2", {"10.0.1.11/24"});
  host.snapshot.routes.reset();
  CHECK(host.decide().socket.ifnames == Strings{"eno1", "eno2"});
  host.peers({"10.0.1.12"});
  auto decision = host.decide();
  CHECK(decision.socket.ifnames == Strings{"eno2"});
  host.snapshot.peers = {*IpAddress::parse("10.77.0.1")};
  CHECK(!finds(host.decide(), "peer-unreachable"));

  host.snapshot.links.reset();
  decision = host.decide();
  CHECK(decision.env.empty());
  CHECK(decision.transport == Transport::socket);

  // Older iproute2 prints no bus: a plain device is a real one, a device with a kind is not.
  Host old;
  old.add("eth0", "", {"10.0.0.11/24"});
  old.add("docker0", "bridge", {"172.17.0.1/16"});
  old.add("virbr0", "", {"192.168.122.1/24"}).driver = "bridge";
  decision = old.decide();
  CHECK(decision.socket.ifnames == Strings{"eth0"});
  CHECK(reason(decision, "virbr0") == "virtual-bridge");
}

TEST_CASE("MASTER_ADDR breaks ties, on rank 0's own host too, whatever the order of the peers") {
  Host host;
  host.nic("eno1", {"10.0.0.11/24"}, 25000);
  host.nic("eno2", {"10.1.0.11/24"}, 25000);
  host.nic("slow", {"10.2.0.11/24"}, 1000);
  CHECK(host.decide().socket.ifnames == Strings{"eno1", "eno2"});
  for (const auto* master : {"10.1.0.12", "10.1.0.11"}) {
    host.snapshot.env["MASTER_ADDR"] = master;
    for (const auto& own : {Strings{}, Strings{"10.1.0.11", "10.0.0.11"}, Strings{"10.0.0.11", "10.1.0.11"}}) {
      host.snapshot.peers.clear();
      host.peers(own);
      CHECK(host.decide().socket.ifnames == Strings{"eno2"});
    }
  }
  // On a management network it stays out of the data's way once the others' addresses are known.
  host.snapshot.env["MASTER_ADDR"] = "10.2.0.10";
  host.snapshot.peers.clear();
  host.peers({"10.2.0.10", "10.0.0.12", "10.1.0.12"});
  CHECK(host.decide().socket.ifnames == Strings{"eno1", "eno2"});
}
