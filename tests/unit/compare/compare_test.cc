// SPDX-License-Identifier: Apache-2.0
#include "compare/compare.h"

#include <catch2/catch.hpp>
#include <functional>
#include <nlohmann/json.hpp>

#include "../hca/build.h"
#include "compare/compare_json.h"
#include "decide/decide.h"

using namespace test;

namespace {

/// A node of a job: one management interface with the default route and `rails` RoCE ports, a subnet per rail.
HostSnapshot node(int number, int rails = 4) {
  HostSnapshot host;
  const auto n = std::to_string(number % 250 + 1), net = std::to_string(number / 250);
  host.system.hostname = "node-" + std::to_string(number);
  host.nccl_version = "2.28.9";
  host.links = std::vector<Link>{link(1, "eno1", "10.200." + net + "." + n, 16)};
  host.routes.emplace();
  const auto route = [&](const std::string& dst, const std::string& dev, const std::string& gateway = "") {
    Route made;
    if (dst != "default") made.dst = *Prefix::parse(dst);
    made.dev = dev;
    if (!gateway.empty()) made.gateway = *IpAddress::parse(gateway);
    host.routes->push_back(made);
  };
  route("default", "eno1", "10.200.255.254");
  route("10.200.0.0/16", "eno1");
  for (int rail = 0; rail < rails; ++rail) {
    const auto r = std::to_string(rail);
    auto& port = roce(host, "mlx5_" + r, "ens" + r, "10." + r + "." + net + "." + n, 400);
    port.active_mtu = 4096;
    host.links->back().addr_info.front().prefixlen = 16;
    host.rdma->back().pci = "0000:" + std::to_string(10 + rail) + ":00.0";
    route("10." + r + ".0.0/16", "ens" + r);
  }
  return host;
}

CompareResult compare(const std::vector<HostSnapshot>& hosts, bool own = false) {
  Comparison comparison(own);
  for (const auto& host : hosts) comparison.add(host_name(host, "x.json"), host, decide(host, {}));
  return comparison.finish();
}

std::string codes(const CompareResult& result) {
  std::string text;
  for (const auto& found : result.findings) text += (text.empty() ? "" : " ") + found.finding.code;
  return text;
}

using Change = std::function<void(HostSnapshot&)>;

/// Codes and hosts of three nodes of which the last is changed.
std::string odd_one(const Change& change, int rails = 4) {
  std::vector<HostSnapshot> hosts{node(0, rails), node(1, rails), node(2, rails)};
  change(hosts[2]);
  std::string text;
  for (const auto& found : compare(hosts).findings) {
    text += (text.empty() ? "" : "; ") + found.finding.code + ":";
    for (const auto& name : found.hosts) text += " " + name;
  }
  return text;
}

}  // namespace

TEST_CASE("equal hosts have nothing to say") {
  CHECK(codes(compare({node(0), node(1), node(2)})).empty());
  CHECK(codes(compare({node(0)})).empty());
  CHECK(codes(compare({})).empty());
  CHECK(codes(compare({node(0, 0), node(1, 0)})).empty());
}

TEST_CASE("each difference by its code, with the host that differs") {
  CHECK(odd_one([](HostSnapshot& h) { h.nccl_version = "2.27.7"; }) == "nccl-version-mismatch: node-2");
  CHECK(odd_one([](HostSnapshot& h) { h.nccl_version.reset(); }).empty());
  CHECK(odd_one([](HostSnapshot& h) { h.env["NCCL_ALGO"] = "Ring"; }) == "env-mismatch: node-2");
  CHECK(odd_one([](HostSnapshot& h) { h.env["NCCL_HOSTID"] = "2"; }).empty());
  CHECK(odd_one([](HostSnapshot& h) { h.env["MASTER_ADDR"] = "10.200.0.1"; }).empty());
  CHECK(odd_one([](HostSnapshot& h) { h.rdma->back().usable = false; }) == "hca-count-mismatch: node-2");
  CHECK(odd_one([](HostSnapshot& h) { h.rdma.reset(); }) == "transport-mismatch: node-2");
  CHECK(odd_one([](HostSnapshot& h) {
          for (auto& device : *h.rdma) device.ports[0].rate_gbps = 200;
        }) == "speed-mismatch: node-2");
  CHECK(odd_one([](HostSnapshot& h) {
          for (auto& device : *h.rdma) device.ports[0].active_mtu = 1024;
        }) == "mtu-mismatch: node-2");
  CHECK(odd_one([](HostSnapshot& h) {
          for (auto& one : *h.links) one.mtu = 1500;
        }) == "mtu-mismatch: node-2");
  CHECK(odd_one([](HostSnapshot& h) {
          for (auto& device : *h.rdma)
            for (auto& entry : *device.ports[0].gids) entry.type = "IB/RoCE v1";
        }) == "gid-type-mismatch: node-2");
  CHECK(odd_one([](HostSnapshot& h) {
          for (auto& device : *h.rdma) {
            device.ports[0].link_layer = "InfiniBand";
            device.ports[0].netdev.reset();
          }
        }) == "link-layer-mismatch: node-2");
  CHECK(odd_one([](HostSnapshot& h) { h.links->front().mtu = 1500; }, 0) == "mtu-mismatch: node-2");
  CHECK(odd_one([](HostSnapshot& h) { h.links->front().speed_mbps = 1000; }, 0).empty());  // unknown on the others
}

TEST_CASE("rails in another order") {
  const auto swap_rails = [](HostSnapshot& host) {
    auto& a = host.rdma->at(0).ports[0];
    auto& b = host.rdma->at(1).ports[0];
    std::swap(a.gids, b.gids);
    std::swap(a.netdev, b.netdev);
  };
  CHECK(odd_one(swap_rails) == "rail-mismatch: node-2");
  // From 2.29.7 NCCL's order is the PCI order: names then say nothing.
  CHECK(odd_one([&](HostSnapshot& host) {
          swap_rails(host);
          std::swap(host.rdma->at(0).pci, host.rdma->at(1).pci);
          host.nccl_version = "2.30.7";
        }) == "nccl-version-mismatch: node-2");
}

TEST_CASE("a rail in a subnet of its own, and one with a route") {
  const auto move = [](HostSnapshot& host) {
    auto& port = host.rdma->at(3).ports[0];
    const auto address = *IpAddress::parse("10.77.0.3");
    host.links->at(4).addr_info.front() = {address, 24, "global", {}, {}};
    port.gids = table("ens3", "10.77.0.3");
    for (auto& route : *host.routes)
      if (route.dev == "ens3") route.dst = *Prefix::parse("10.77.0.0/24");
  };
  CHECK(odd_one(move) == "subnet-mismatch: node-2");
  const auto routed = [&](HostSnapshot& host) {
    move(host);
    Route route;
    route.dst = *Prefix::parse("10.0.0.0/8");
    route.dev = "ens3";
    host.routes->push_back(route);
  };
  CHECK(odd_one(routed) == "subnet-mismatch: node-2");  // it reaches them, they do not reach it
  std::vector<HostSnapshot> hosts{node(0), node(1), node(2)};
  routed(hosts[2]);
  for (int i : {0, 1}) {
    Route back;
    back.dst = *Prefix::parse("10.77.0.0/16");
    back.dev = "ens3";
    hosts[i].routes->push_back(back);
  }
  CHECK(codes(compare(hosts)).empty());
  routed(hosts[1] = node(1));
  hosts[1].routes.reset();  // unknown routes are no missing ones
  CHECK(codes(compare({hosts[1], hosts[1]})).empty());
}

TEST_CASE("sockets: another device's narrower route takes the peer away") {
  std::vector<HostSnapshot> hosts{node(0, 0), node(1, 0)};
  hosts[1].links->front().addr_info.front() = {*IpAddress::parse("172.17.5.9"), 24, "global", {}, {}};
  for (auto& route : *hosts[1].routes)
    if (route.dst) route.dst = *Prefix::parse("172.17.5.0/24");
  CHECK(codes(compare(hosts)).empty());  // both have a default route
  Route docker;
  docker.dst = *Prefix::parse("172.17.0.0/16");
  docker.dev = "docker0";
  hosts[0].routes->push_back(docker);
  CHECK(codes(compare(hosts)) == "subnet-mismatch");
  hosts[0].routes->back().flags = {"linkdown"};
  CHECK(codes(compare(hosts)).empty());
}

TEST_CASE("two hosts that differ are both named; a majority names the rest") {
  auto a = node(0), b = node(1);
  b.env["NCCL_ALGO"] = "Ring";
  const auto two = compare({a, b});
  REQUIRE(two.findings.size() == 1);
  CHECK(two.findings[0].hosts == std::vector<std::string>{"node-0", "node-1"});
  const auto three = compare({a, b, node(2)});
  CHECK(three.findings[0].hosts == std::vector<std::string>{"node-1"});
  CHECK(three.findings[0].finding.message.find("not set on most hosts (2 of 3); \"Ring\" on node-1") !=
        std::string::npos);
}

TEST_CASE("names: hostname, else the file's; doubles get a suffix") {
  auto host = node(0);
  CHECK(host_name(host, "dir/host-a.json") == "node-0");
  host.system.hostname.reset();
  CHECK(host_name(host, "dir/host-a.json") == "host-a");
  CHECK(host_name(host, "-") == "-");
  const auto result = compare({node(0), node(0), node(0)});
  CHECK(result.hosts == std::vector<std::string>{"node-0", "node-0#2", "node-0#3"});
}

TEST_CASE("the document") {
  auto a = node(0), b = node(1);
  b.nccl_version = "2.27.7";
  b.process.memlock_bytes = 65536;
  const auto document = nlohmann::json::parse(write_comparison(compare({a, b})));
  CHECK(document["schema"] == "topoguard.compare/1");
  CHECK(document["hosts"].size() == 2);
  REQUIRE(document["findings"].size() == 1);
  CHECK(document["findings"][0]["code"] == "nccl-version-mismatch");
  CHECK(document["findings"][0]["hosts"].size() == 2);
  CHECK_FALSE(document["findings"][0]["remedy"].get<std::string>().empty());
  const auto all = nlohmann::json::parse(write_comparison(compare({a, b}, true)));
  bool own = false;
  for (const auto& finding : all["findings"])
    own = own || (finding["code"] == "memlock-low" && finding["hosts"] == nlohmann::json{"node-1"});
  CHECK(own);
  a.system.hostname = "bad\xff";
  CHECK_NOTHROW(nlohmann::json::parse(write_comparison(compare({a}))));
}

TEST_CASE("1,024 hosts with three odd ones: exactly those") {
  Comparison comparison;
  for (int i = 0; i < 1024; ++i) {
    auto host = node(i);
    if (i == 17) host.env["NCCL_IB_TC"] = "106";
    if (i == 400) host.rdma->back().ports[0].state = "DOWN";
    if (i == 1000)
      for (auto& device : *host.rdma) device.ports[0].active_mtu = 1024;
    comparison.add(*host.system.hostname, host, decide(host, {}));
  }
  const auto result = comparison.finish();
  CHECK(codes(result) == "hca-count-mismatch mtu-mismatch env-mismatch");
  for (const auto& found : result.findings) REQUIRE(found.hosts.size() == 1);
  CHECK(result.findings[0].hosts[0] == "node-400");
  CHECK(result.findings[1].hosts[0] == "node-1000");
  CHECK(result.findings[2].hosts[0] == "node-17");
}

TEST_CASE("hosts that all stand alone are compared in reasonable time") {
  Comparison comparison;
  for (int i = 0; i < 600; ++i) {
    auto host = node(i, 1);
    const auto subnet = "10.0." + std::to_string(i % 250) + "." + std::to_string(i / 250 * 4) + "/30";
    host.links->at(1).addr_info.front() = {
        *IpAddress::parse("10.0." + std::to_string(i % 250) + "." + std::to_string(i / 250 * 4 + 1)),
        30,
        "global",
        {},
        {}};
    host.rdma->front().ports[0].gids = table("ens0", host.links->at(1).addr_info.front().local.text());
    for (auto& route : *host.routes)
      if (route.dev == "ens0") route.dst = *Prefix::parse(subnet);
    comparison.add(*host.system.hostname, host, decide(host, {}));
  }
  const auto result = comparison.finish();
  REQUIRE(codes(result) == "subnet-mismatch");
  CHECK(result.findings[0].hosts.size() == 600);
}
