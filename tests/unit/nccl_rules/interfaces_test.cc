// SPDX-License-Identifier: Apache-2.0
#include "nccl_rules/interfaces.h"

#include <catch2/catch.hpp>
#include <map>

using namespace topoguard;

namespace {

using Env = std::map<std::string, std::string>;
using Strings = std::vector<std::string>;

struct Net {
  std::vector<Link> links;
  std::optional<std::string> kernel;

  Link& add(int ifindex, const std::string& name, const Strings& addresses, bool running = true) {
    Link link;
    link.ifindex = ifindex;
    link.ifname = name;
    link.flags = {"UP"};
    link.operstate = running ? "UP" : "DOWN";
    for (const auto& text : addresses) {
      const auto prefix = Prefix::parse(text);
      REQUIRE(prefix);
      link.addr_info.push_back({prefix->address, prefix->length, "global", {}, {}});
    }
    links.push_back(link);
    return links.back();
  }

  Strings take(NcclRelease release, const Env& env = {}, std::size_t limit = kMaxInterfaces) const {
    Strings names;
    for (const auto& found : nccl_interfaces(release, getifaddrs_order(links, kernel), find(env), limit))
      names.push_back(found.name + " " + found.address.text());
    return names;
  }

  std::string bootstrap(NcclRelease release, const Env& env = {}) const {
    const auto pick = nccl_bootstrap(release, getifaddrs_order(links, kernel), find(env));
    return pick.interface ? pick.interface->name : pick.unknown ? "unknown" : "none";
  }

  static FindVariable find(const Env& env) {
    return [&env](std::string_view name) -> const std::string* {
      const auto at = env.find(std::string(name));
      return at == env.end() ? nullptr : &at->second;
    };
  }
};

constexpr NcclRelease k2277{2, 27, 7}, k2289{2, 28, 9}, k2293{2, 29, 3}, k2303{2, 30, 3};

}  // namespace

TEST_CASE("by itself: ib*, else all but docker, lo and virbr, else those") {
  Net net;
  net.add(1, "lo", {"127.0.0.1/8", "::1/128"});
  CHECK(net.take(k2289) == Strings{"lo 127.0.0.1"});
  net.add(2, "docker0", {"172.17.0.1/16"});
  CHECK(net.take(k2289) == Strings{"docker0 172.17.0.1"});
  net.add(3, "virbr0", {"192.168.122.1/24"});
  CHECK(net.take(k2277) == Strings{"virbr0 192.168.122.1"});
  CHECK(net.take(k2289) == Strings{"docker0 172.17.0.1"});
  net.add(4, "br-lab", {"10.1.0.1/24"});
  net.add(5, "eth1", {"10.0.0.1/24"});
  CHECK(net.take(k2289) == Strings{"br-lab 10.1.0.1", "eth1 10.0.0.1"});
  CHECK(net.bootstrap(k2289) == "br-lab");
  net.add(6, "ib0", {"fe80::6/64"});
  CHECK(net.take(k2289) == Strings{"ib0 fe80::6"});
}

TEST_CASE("IFF_RUNNING counts since 2.28") {
  Net net;
  net.add(2, "eth0", {"10.0.0.1/24"}, false);
  net.add(3, "eth1", {"10.0.1.1/24"});
  CHECK(net.take(k2277) == Strings{"eth0 10.0.0.1", "eth1 10.0.1.1"});
  CHECK(net.take(k2289) == Strings{"eth1 10.0.1.1"});
}

TEST_CASE("order: IPv4 first, one address a name, the first seen; the family can be forced") {
  Net net;
  net.add(3, "eth1", {"2001:db8::3/64", "10.0.1.1/24", "10.0.1.2/24"});
  net.add(2, "eth0", {"2001:db8::2/64"});
  net.add(1, "lo", {"::1/128"});
  CHECK(net.take(k2289) == Strings{"eth1 10.0.1.1", "eth0 2001:db8::2"});
  CHECK(net.take(k2289, {{"NCCL_SOCKET_FAMILY", "AF_INET6"}}) == Strings{"eth0 2001:db8::2", "eth1 2001:db8::3"});
  CHECK(net.take(k2289, {{"NCCL_SOCKET_FAMILY", "AF_INET"}}) == Strings{"eth1 10.0.1.1"});
  CHECK(net.take(k2289, {{"NCCL_SOCKET_FAMILY", "ipv6"}}).size() == 2);
  CHECK(net.take(k2289, {{"NCCL_SOCKET_IFNAME", "lo"}}).empty());  // ::1 is never taken
}

TEST_CASE("before Linux 6.9 devices come by ifindex modulo 256, the newest of a bucket first") {
  Net net;
  net.add(257, "b", {"10.0.0.2/24"});
  net.add(2, "c", {"10.0.0.3/24"});
  net.add(1, "a", {"10.0.0.1/24"});
  CHECK(net.take(k2289) == Strings{"a 10.0.0.1", "c 10.0.0.3", "b 10.0.0.2"});
  net.kernel = "5.15.0-105-generic";
  CHECK(net.take(k2289) == Strings{"b 10.0.0.2", "a 10.0.0.1", "c 10.0.0.3"});
  net.kernel = "6.11.0";
  CHECK(net.take(k2289).front() == "a 10.0.0.1");
}

TEST_CASE("the user's list") {
  Net net;
  net.add(1, "lo", {"127.0.0.1/8"});
  net.add(2, "eth1", {"10.0.0.1/24"});
  net.add(3, "eth10", {"10.0.1.1/24"});
  const auto take = [&](const char* list) { return net.take(k2289, {{"NCCL_SOCKET_IFNAME", list}}).size(); };
  CHECK(take("eth1") == 2);
  CHECK(take("=eth1") == 1);
  CHECK(take("eth5") == 0);
  CHECK(take("^eth10") == 2);
  CHECK(take("^docker") == 3);
  CHECK(take("") == 2);  // too short: as unset
  CHECK(take("=") == 2);
  CHECK(net.bootstrap(k2289, {{"NCCL_SOCKET_IFNAME", "eth5"}}) == "none");
}

TEST_CASE("an alias label is a name of its own, seen in the lab") {
  Net net;
  net.add(2, "eth0", {"10.0.0.1/24", "10.0.1.1/24", "10.0.1.2/24"});
  for (auto* address : {&net.links[0].addr_info[1], &net.links[0].addr_info[2]}) address->label = "eth0:1";
  CHECK(net.take(k2289) == Strings{"eth0 10.0.0.1", "eth0:1 10.0.1.1"});
  CHECK(net.take(k2289, {{"NCCL_SOCKET_IFNAME", "=eth0"}}) == Strings{"eth0 10.0.0.1"});
  CHECK(net.take(k2289, {{"NCCL_SOCKET_IFNAME", "=eth0:1"}}) == Strings{"eth0 10.0.0.1"});  // ":1" is a port to NCCL
  CHECK(net.take(k2289, {{"NCCL_SOCKET_IFNAME", "^=eth0"}}) == Strings{"eth0:1 10.0.1.1"});
}

TEST_CASE("limits") {
  Net net;
  for (int i = 1; i <= 20; ++i) net.add(i, "eth" + std::to_string(i), {"10.0." + std::to_string(i) + ".1/24"});
  CHECK(net.take(k2289).size() == 16);
  CHECK(net.take(k2289, {}, 1) == Strings{"eth1 10.0.1.1"});
}

TEST_CASE("NCCL_COMM_ID: its subnet, whatever the list says; the IPv4 match of 2.29 is inverted") {
  Net net;
  net.add(1, "lo", {"127.0.0.1/8"});
  net.add(2, "eth0", {"10.0.0.1/24", "2001:db8::1/64"});
  net.add(3, "eth1", {"10.42.1.11/24", "fe80::3/64"});
  const Env v4{{"NCCL_COMM_ID", "10.42.1.10:29400"}, {"NCCL_SOCKET_IFNAME", "=eth0"}};
  CHECK(net.bootstrap(k2289, v4) == "eth1");
  CHECK(net.bootstrap(k2293, v4) == "lo");
  CHECK(net.bootstrap(k2303, v4) == "eth1");
  CHECK(net.take(k2293, v4) == Strings{"eth0 10.0.0.1"});
  CHECK(net.take(k2289, {{"NCCL_COMM_ID", "10.42.1.10:29400"}}) == Strings{"eth1 10.42.1.11"});
  CHECK(net.bootstrap(k2293, {{"NCCL_COMM_ID", "[2001:db8::9]:1"}}) == "eth0");
  CHECK(net.bootstrap(k2289, {{"NCCL_COMM_ID", "[fe80::9]:1"}}) == "none");
  CHECK(net.bootstrap(k2289, {{"NCCL_COMM_ID", "[fe80::9%eth1]:1"}}) == "eth1");
  CHECK(net.bootstrap(k2289, {{"NCCL_COMM_ID", "10.99.0.1:1"}}) == "none");
  CHECK(net.bootstrap(k2289, {{"NCCL_COMM_ID", "node-a:1"}}) == "unknown");
  CHECK(net.bootstrap(k2289, {{"NCCL_COMM_ID", ""}}) == "none");
}
