// SPDX-License-Identifier: Apache-2.0
// One host per row of interface_rules(), and the rows' own order.
#include <set>

#include "decide/findings.h"
#include "decide/interface_rules.h"
#include "hosts.h"

using namespace test;

TEST_CASE("every row names a known reason, a detail and what taught it") {
  std::set<std::string> ids;
  for (const auto& rule : interface_rules()) {
    INFO(rule.id);
    CHECK(ids.insert(rule.id).second);
    CHECK(reason_row(rule.reason) != nullptr);
    CHECK(std::string(rule.taught_by).size() > 5);
  }
}

TEST_CASE("each row decides a host of its own") {
  Host host;
  host.nic("eno1", {"10.0.0.11/24"});
  host.route("default", "eno1", "10.0.0.1");
  const auto reason_of = [&](const std::string& name) { return reason(host.decide(), name); };
  const auto rejected = [&](const std::string& name) {
    return verdict(host.decide(), name).verdict == Verdict::rejected;
  };

  CHECK(reason_of("eno1") == "best-interface");
  CHECK(reason_of("lo") == "loopback");

  host.nic("off", {"10.0.1.11/24"});
  host.down("off");
  CHECK(reason_of("off") == "down");
  host.nic("unplugged", {"10.0.2.11/24"});
  host.unplug("unplugged");
  CHECK(reason_of("unplugged") == "no-carrier");

  host.add("bond0", "bond");
  host.nic("slave", {"10.0.3.11/24"});
  host.enslave("bond0", {"slave"});
  CHECK(reason_of("slave") == "enslaved");
  CHECK(reason_of("bond0") == "no-address");
  host.nic("lost-slave", {"10.0.3.12/24"}).flags.push_back("SLAVE");
  CHECK(reason_of("lost-slave") == "enslaved");

  host.veth("veth0", {"10.0.4.11/24"});
  CHECK(reason_of("veth0") == "container-end");
  host.add("nk0", "netkit", {"10.0.5.11/24"});
  CHECK(reason_of("nk0") == "container-end");
  for (const auto* kind : {"tun", "wireguard", "ppp"}) {
    host.add(std::string("x-") + kind, kind, {"10.1.0.1/24"});
    CHECK(reason_of(std::string("x-") + kind) == "tunnel-endpoint");
  }
  for (const auto* kind : {"vxlan", "geneve", "ipip", "ip6tnl", "sit", "gre", "gretap", "vti", "xfrm"}) {
    host.over(std::string("o-") + kind, kind, "eno1", {"10.2.0.1/24"});
    CHECK(reason_of(std::string("o-") + kind) == "overlay");
  }
  host.add("dummy0", "dummy", {"10.3.0.1/32"});
  CHECK(reason_of("dummy0") == "dummy");
  host.add("br-lab", "bridge", {"10.4.0.1/24"});
  CHECK(reason_of("br-lab") == "virtual-bridge");
  host.add("vrf-data", "vrf", {"10.5.0.1/24"});
  CHECK(reason_of("vrf-data") == "virtual-device");
  host.add("ifb0", "ifb", {"10.5.1.1/24"});
  CHECK(reason_of("ifb0") == "virtual-device");

  host.nic("fresh", {"10.6.0.1/24"}).addr_info[0].tentative = true;
  CHECK(reason_of("fresh") == "address-unusable");
  host.nic("bare");
  CHECK(reason_of("bare") == "no-address");
  host.nic("auto", {"169.254.7.7/16"});
  CHECK(reason_of("auto") == "link-local");
  host.nic("auto6", {"fe80::1/64"});
  CHECK(reason_of("auto6") == "link-local");
  // 169.254 counts as link-local whatever the scope says (nodelocaldns, EKS pod identity).
  host.nic("auto-global", {"169.254.7.8/16"}).addr_info[0].scope = "global";
  CHECK(reason_of("auto-global") == "link-local");

  const auto decision = host.decide();
  for (const auto& device : decision.devices) {
    INFO(device.name);
    CHECK((device.name == "eno1") == (device.verdict == Verdict::chosen));
    CHECK(!device.detail.empty());
  }
  CHECK(rejected("auto"));
  CHECK(decision.socket.ifnames == Strings{"eno1"});
  CHECK(decision.devices.size() == host.snapshot.links->size());
}

TEST_CASE("the only routable address on lo or a dummy counts, and only then") {
  for (const auto* carrier : {"lo", "dummy0"}) {
    Host host;
    host.nic("lan0", {"fe80::1/64"});
    host.nic("lan1", {"fe80::2/64"});
    if (std::string(carrier) == "dummy0") host.add("dummy0", "dummy");
    host.get(carrier).addr_info.push_back(address("10.255.0.11/32"));
    for (const auto* dev : {"lan0", "lan1"}) host.route("default", dev).prefsrc = *IpAddress::parse("10.255.0.11");
    auto decision = host.decide();
    CHECK(decision.socket.ifnames == Strings{carrier});
    CHECK(decision.socket.addresses.at(carrier).text() == "10.255.0.11");
    CHECK(reason(decision, carrier) == "only-routable-address");
    CHECK(reason(decision, "lan0") == "link-local");
    CHECK(finds(decision, "address-not-steerable") == (std::string(carrier) == "lo"));
    CHECK(env(decision, "NCCL_SOCKET_IFNAME") == (std::string(carrier) == "lo" ? "(unset)" : "=dummy0"));

    // A management network beside it does not lead to other hosts' fabric; with a default route of its own it may.
    Host managed = host;
    managed.nic("eno1", {"192.168.0.5/24"}, 1000);
    managed.route("192.168.0.0/24", "eno1").prefsrc = *IpAddress::parse("192.168.0.5");
    decision = managed.decide();
    CHECK(decision.socket.ifnames == Strings{carrier});
    CHECK(reason(decision, "eno1") == "no-default-route");
    managed.route("default", "eno1", "192.168.0.1", 200);
    CHECK(managed.decide().socket.ifnames == Strings{"eno1"});

    host.get("lan0").addr_info.push_back(address("10.0.0.11/24"));
    decision = host.decide();
    CHECK(decision.socket.ifnames == Strings{"lan0"});
    CHECK(verdict(decision, carrier).verdict == Verdict::rejected);
  }
}

TEST_CASE("names decide nothing: the same host under other names") {
  const auto build = [](const std::string& nic, const std::string& bridge, const std::string& veth) {
    Host host;
    host.nic(nic, {"172.17.0.11/24"});
    host.add(bridge, "bridge", {"10.0.0.1/24"});
    host.veth(veth, {"fe80::3/64"});
    host.enslave(bridge, {veth});
    host.route("default", nic, "172.17.0.1");
    return host.decide();
  };
  CHECK(build("eth0", "docker0", "veth0").socket.ifnames == Strings{"eth0"});
  CHECK(build("docker0", "eth0", "ib0").socket.ifnames == Strings{"docker0"});
  CHECK(build("veth7", "lo0", "eno1").socket.ifnames == Strings{"veth7"});
  CHECK(env(build("docker0", "eth0", "ib0"), "NCCL_SOCKET_IFNAME") == "=docker0");
}
