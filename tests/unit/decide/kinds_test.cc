// SPDX-License-Identifier: Apache-2.0
// Kinds of hosts: what an expert would choose on each.
#include "hosts.h"

using namespace test;

TEST_CASE("stacks on physical devices") {
  SECTION("bond of two, one without carrier") {
    Host host;
    host.nic("eno1", {}, 25000);
    host.nic("eno2", {}, 25000);
    host.add("bond0", "bond", {"10.0.0.11/24"});
    host.enslave("bond0", {"eno1", "eno2"});
    host.unplug("eno2");
    host.route("default", "bond0", "10.0.0.1");
    const auto decision = host.decide();
    CHECK(decision.socket.ifnames == Strings{"bond0"});
    CHECK(decision.env.empty());
    CHECK(reason(decision, "eno1") == "enslaved");
  }
  SECTION("a bond that is down, and a NIC") {
    Host host;
    host.add("bond0", "bond", {"10.0.0.11/24"});
    host.nic("eno1");
    host.enslave("bond0", {"eno1"});
    host.unplug("bond0");
    host.unplug("eno1");
    host.nic("eno2", {"10.0.1.11/24"});
    CHECK(host.decide().socket.ifnames == Strings{"eno2"});
  }
  SECTION("vlan on a team on mixed devices") {
    Host host;
    host.nic("eno1");
    host.add("tap0", "tun");
    host.add("team0", "team");
    host.enslave("team0", {"eno1", "tap0"});
    host.over("team0.30", "vlan", "team0", {"10.0.0.11/24"});
    host.add("br0", "bridge", {"10.9.0.1/24"});
    const auto decision = host.decide();
    CHECK(decision.socket.ifnames == Strings{"team0.30"});
    CHECK(reason(decision, "br0") == "virtual-bridge");
  }
  SECTION("bridge with a physical port, as libvirt and LXD set up; its NIC's twin bridge has only taps") {
    Host host;
    host.nic("eno1");
    host.add("br0", "bridge", {"10.0.0.11/24"});
    host.add("virbr0", "bridge", {"192.168.122.1/24"});
    host.add("tap0", "tun");
    host.add("tap1", "tun");
    host.enslave("br0", {"eno1", "tap0"});
    host.enslave("virbr0", {"tap1"});
    host.route("default", "br0", "10.0.0.1");
    const auto decision = host.decide();
    CHECK(decision.socket.ifnames == Strings{"br0"});
    CHECK(reason(decision, "virbr0") == "virtual-bridge");
    host.unplug("eno1");
    CHECK(reason(host.decide(), "br0") == "only-candidate");
  }
  SECTION("bridge over a vlan over a bond") {
    Host host;
    host.nic("eno1");
    host.add("bond0", "bond");
    host.enslave("bond0", {"eno1"});
    host.over("bond0.5", "vlan", "bond0");
    host.add("br5", "bridge", {"10.0.0.11/24"});
    host.enslave("br5", {"bond0.5"});
    CHECK(reason(host.decide(), "br5") == "best-interface");
  }
  SECTION("vlan on a vxlan stays virtual") {
    Host host;
    host.nic("eno1", {"10.0.0.11/24"});
    host.over("vx0", "vxlan", "eno1");
    host.over("vx0.7", "vlan", "vx0", {"10.7.0.1/24"});
    CHECK(reason(host.decide(), "vx0.7") == "virtual-device");
  }
  SECTION("macvlan and ipvlan on this host's NIC") {
    Host host;
    host.nic("eno1", {"10.0.0.11/24"});
    host.over("mv0", "macvlan", "eno1", {"10.0.1.11/24"});
    host.route("default", "eno1", "10.0.0.1");
    const auto decision = host.decide();
    CHECK(decision.socket.ifnames == Strings{"eno1"});
    CHECK(verdict(decision, "mv0").verdict == Verdict::eligible);
  }
  SECTION("cycles in a broken document end") {
    Host host;
    host.over("a", "vlan", "b", {"10.0.0.1/24"});
    host.over("b", "vlan", "a", {"10.0.1.1/24"});
    host.add("c", "bridge", {"10.0.2.1/24"}).master = "c";
    CHECK(host.decide().devices.size() == 4);
  }
}

TEST_CASE("Open vSwitch") {
  Host host;
  host.nic("eno1", {}, 100000);
  host.add("ovs-system", "openvswitch");
  host.down("ovs-system");
  host.add("br-ex", "openvswitch", {"10.0.0.11/24"});
  host.add("br-int", "openvswitch", {"10.1.0.1/24"});
  host.get("eno1").master = "ovs-system";
  host.get("eno1").slave_kind = "openvswitch";
  host.route("default", "br-ex", "10.0.0.1");
  auto decision = host.decide();
  CHECK(decision.socket.ifnames == Strings{"br-ex"});
  CHECK(reason(decision, "eno1") == "enslaved");
  CHECK(reason(decision, "br-int") == "virtual-device");
  CHECK(!finds(decision, "virtual-only"));
  host.unplug("eno1");
  decision = host.decide();
  CHECK(finds(decision, "virtual-only"));
}

TEST_CASE("Open vSwitch above a bond") {
  Host host;
  host.nic("ens1f0", {}, 25000);
  host.nic("ens1f1", {}, 25000);
  host.add("ovs-system", "openvswitch");
  host.down("ovs-system");
  host.add("bond0", "bond");
  host.enslave("bond0", {"ens1f0", "ens1f1"});
  host.get("bond0").master = "ovs-system";
  SECTION("the record names the kind of port") { host.get("bond0").slave_kind = "openvswitch"; }
  SECTION("it names the master alone") {}
  host.add("br-ex", "openvswitch", {"10.0.0.11/24"});
  host.route("default", "br-ex", "10.0.0.1");
  CHECK(!finds(host.decide(), "virtual-only"));
  CHECK(host.decide().socket.ifnames == Strings{"br-ex"});
  host.unplug("ens1f0");
  host.unplug("ens1f1");
  CHECK(finds(host.decide(), "virtual-only"));
}

TEST_CASE("a speed that nobody tells is 10 Gb/s on a wire, and not in the air or behind USB") {
  Host host;
  host.nic("a0", {"10.1.0.11/24"}, 1000);
  auto& other = host.nic("b0", {"10.2.0.11/24"});
  SECTION("a wire") { CHECK(host.decide().socket.ifnames == Strings{"b0"}); }
  SECTION("wireless, by its driver") {
    other.driver = "iwlwifi";
    CHECK(host.decide().socket.ifnames == Strings{"a0"});
  }
  SECTION("wireless, by its PCI class") {
    host.snapshot.pci.emplace();
    host.snapshot.pci->push_back({});
    host.snapshot.pci->back().id = *other.parentdev;
    host.snapshot.pci->back().device_class = "0x028000";
    CHECK(host.decide().socket.ifnames == Strings{"a0"});
  }
  SECTION("USB") {
    other.parentbus = "usb";
    CHECK(host.decide().socket.ifnames == Strings{"a0"});
    other.speed_mbps = 2500;
    CHECK(host.decide().socket.ifnames == Strings{"b0"});
  }
}

TEST_CASE("a dead NIC takes nothing from a container's links") {
  Host host;
  host.veth("eth0", {"10.1.0.11/24"});
  host.veth("eth1", {"10.2.0.11/24"});
  host.peers({"10.1.0.12", "10.2.0.12"});
  const auto without = host.decide();
  CHECK(without.socket.ifnames == Strings{"eth0", "eth1"});
  host.nic("ens1", {"10.3.0.11/24"}, 100000);
  host.down("ens1");
  CHECK(host.decide().socket.ifnames == without.socket.ifnames);
}

TEST_CASE("containers and pods") {
  Host host;
  SECTION("Cilium or Calico: a /32 with a link-scope default route") {
    host.snapshot.system.container = "kubernetes";
    host.veth("eth0", {"10.244.3.17/32"});
    host.route("169.254.1.1/32", "eth0");
    host.route("default", "eth0", "169.254.1.1");
    const auto decision = host.decide();
    CHECK(decision.socket.ifnames == Strings{"eth0"});
    CHECK(codes(decision).empty());
    CHECK(decision.env.empty());
  }
  SECTION("kind and minikube: a node in a container, with its pods' veths") {
    host.snapshot.system.container = "docker";
    host.veth("eth0", {"172.18.0.2/16"});
    host.route("default", "eth0", "172.18.0.1");
    for (const auto* pod : {"vethaaaa", "vethbbbb"}) {
      host.veth(pod, {"10.244.0.1/32"});
      host.route(std::string("10.244.0.") + (pod[4] == 'a' ? "2/32" : "3/32"), pod);
    }
    const auto decision = host.decide();
    CHECK(decision.socket.ifnames == Strings{"eth0"});
    CHECK(reason(decision, "vethaaaa") == "container-end");
    CHECK(finds(decision, "virtual-only"));
  }
  SECTION("Docker's overlay: peers on eth0, default route by the gateway bridge") {
    host.snapshot.system.container = "docker";
    host.veth("eth0", {"10.0.1.5/24"});
    host.veth("eth1", {"172.18.0.3/16"});
    host.route("default", "eth1", "172.18.0.1");
    host.peers({"10.0.1.6"});
    const auto decision = host.decide();
    CHECK(decision.socket.ifnames == Strings{"eth0"});
    CHECK(!finds(decision, "peer-unreachable"));
    CHECK(env(decision, "NCCL_SOCKET_IFNAME") == "=eth0");
  }
  SECTION("two bridges of one host and no peers: one of them, with a warning") {
    host.snapshot.system.container = "podman";
    host.veth("eth0", {"10.89.0.2/24"});
    host.veth("eth1", {"10.89.1.2/24"});
    host.route("default", "eth0", "10.89.0.1", 100);
    host.route("default", "eth1", "10.89.1.1", 100);
    const auto decision = host.decide();
    CHECK(decision.socket.ifnames == Strings{"eth0"});
    CHECK(finds(decision, "virtual-only"));
  }
  SECTION("ipvlan pod") {
    host.over("eth0", "ipvlan", "", {"10.0.0.21/24"});
    host.route("default", "eth0", "10.0.0.1");
    const auto decision = host.decide();
    CHECK(decision.socket.ifnames == Strings{"eth0"});
    CHECK(codes(decision).empty());
  }
  SECTION("a pod's veth beside macvlans in a namespace without any bus") {
    host.snapshot.system.container = "kubernetes";
    host.veth("eth0", {"10.244.3.17/32"});
    host.route("default", "eth0", "169.254.1.1");
    host.over("net1", "macvlan", "", {"10.1.0.21/24"}).speed_mbps = 200000;
    host.over("net2", "macvlan", "", {"10.1.1.21/24"}).speed_mbps = 200000;
    CHECK(host.decide().socket.ifnames == Strings{"eth0"});
    host.peers({"10.1.0.22", "10.1.1.22"});
    const auto decision = host.decide();
    CHECK(decision.socket.ifnames == Strings{"net1", "net2"});
    CHECK(codes(decision).empty());
  }
  SECTION("SR-IOV pod: the veth is the uplink, the functions carry what they can reach") {
    host.snapshot.system.container = "kubernetes";
    host.veth("eth0", {"10.244.3.17/32"});
    host.route("default", "eth0", "169.254.1.1");
    host.nic("net1", {"10.90.0.21/24"}, 200000);
    auto decision = host.decide();
    CHECK(decision.socket.ifnames == Strings{"eth0"});
    CHECK(codes(decision) == Strings{"faster-without-route"});
    host.peers({"10.90.0.22"});
    decision = host.decide();
    CHECK(decision.socket.ifnames == Strings{"net1"});
  }
  SECTION("rootless Podman: a tap is all there is") {
    host.snapshot.system.container = "podman";
    host.add("tap0", "tun", {"10.0.2.100/24"});
    host.route("default", "tap0", "10.0.2.2");
    const auto decision = host.decide();
    CHECK(decision.socket.ifnames == Strings{"tap0"});
    CHECK(reason(decision, "tap0") == "only-candidate");
    CHECK(finds(decision, "virtual-only"));
  }
  SECTION("no network at all: one host's job still runs over lo") {
    const auto decision = host.decide();
    CHECK(decision.transport == Transport::socket);
    CHECK(decision.socket.ifnames == Strings{"lo"});
    CHECK(finds(decision, "loopback-only"));
    CHECK(decision.env.empty());
  }
}

TEST_CASE("clouds") {
  Host host;
  SECTION("Azure: the virtual function is enslaved to the netvsc device") {
    auto& eth0 = host.add("eth0", "", {"10.0.0.4/24"});
    eth0.parentbus = "vmbus";
    eth0.driver = "hv_netvsc";
    auto& vf = host.nic("enP1s1", {});
    vf.master = "eth0";
    vf.flags.push_back("SLAVE");
    host.route("default", "eth0", "10.0.0.1");
    const auto decision = host.decide();
    CHECK(decision.socket.ifnames == Strings{"eth0"});
    CHECK(reason(decision, "enP1s1") == "enslaved");
  }
  SECTION("GCP: several virtio or gve NICs, each with a /32 and routes") {
    for (int i = 0; i < 3; ++i) {
      const auto net = "10.12" + std::to_string(i);
      auto& made = host.add("eth" + std::to_string(i), "", {net + ".0.5/32"});
      made.parentbus = "virtio";
      host.route(net + ".0.1/32", made.ifname);
      host.route(net + ".0.0/16", made.ifname, net + ".0.1");
    }
    host.route("default", "eth0", "10.120.0.1");
    CHECK(host.decide().socket.ifnames == Strings{"eth0"});
    host.peers({"10.121.0.6", "10.122.0.6"});
    CHECK(host.decide().socket.ifnames == Strings{"eth1", "eth2"});
  }
  SECTION("AWS: the CNI's pod links, and a secondary interface without default route") {
    host.nic("ens5", {"10.1.0.11/20"});
    host.nic("ens6", {"10.1.16.11/20"});
    host.veth("eni1234", {"fe80::5/64"});
    host.route("10.1.0.77/32", "eni1234");
    host.route("default", "ens5", "10.1.0.1");
    const auto decision = host.decide();
    CHECK(decision.socket.ifnames == Strings{"ens5"});
    CHECK(reason(decision, "eni1234") == "container-end");
    CHECK(reason(decision, "ens6") == "no-default-route");
  }
}

TEST_CASE("tunnels as the only way to the peers") {
  Host host;
  host.nic("eno1", {"192.168.1.11/24"});
  host.route("default", "eno1", "192.168.1.1");
  host.add("tailscale0", "tun", {"100.64.0.11/32"});
  host.route("100.64.0.0/10", "tailscale0");
  CHECK(host.decide().socket.ifnames == Strings{"eno1"});
  host.peers({"100.64.0.12"});
  auto decision = host.decide();
  CHECK(decision.socket.ifnames == Strings{"tailscale0"});
  CHECK(reason(decision, "tailscale0") == "only-way-to-peers");
  CHECK(finds(decision, "virtual-only"));
  CHECK(!finds(decision, "peer-unreachable"));
  // A peer that the NIC reaches as well: the NIC stays.
  host.peers({"192.168.1.12"});
  decision = host.decide();
  CHECK(decision.socket.ifnames == Strings{"eno1"});
  CHECK(!finds(decision, "virtual-only"));
}

TEST_CASE("InfiniBand's own interfaces") {
  Host host;
  host.nic("eno1", {"10.0.0.11/24"}, 1000);
  host.route("default", "eno1", "10.0.0.1");
  auto& ib0 = host.nic("ib0", {"10.9.0.11/24"}, 200000);
  ib0.kind = "ipoib";
  ib0.link_type = "infiniband";
  SECTION("with HCAs the bootstrap stays on the default route") {
    host.hca("mlx5_0");
    const auto decision = host.decide();
    CHECK(decision.transport == Transport::ib);
    CHECK(decision.socket.ifnames == Strings{"eno1"});
    CHECK(env(decision, "NCCL_SOCKET_IFNAME") == "=eno1");
  }
  SECTION("with peers there, IPoIB is right for both") {
    host.peers({"10.9.0.12"});
    CHECK(host.decide().socket.ifnames == Strings{"ib0"});
    CHECK(host.decide().env.empty());
  }
}
