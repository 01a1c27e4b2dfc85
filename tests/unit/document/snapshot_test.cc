// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cases.h"
#include "document/document.h"
#include "sample.h"

using namespace topoguard;

namespace {

HostSnapshot read(const std::string& text) {
  ReadSnapshot result = read_snapshot(text, "sample.json");
  INFO(result.error);
  REQUIRE(result.host);
  return *result.host;
}

HostSnapshot with(const std::string& members) { return read(R"({"schema": "topoguard.host/1", )" + members + "}"); }

// The sample in the form that the writer gives it: what must come back.
nlohmann::json normal_sample() {
  auto sample = nlohmann::json::parse(kFullSnapshot);
  auto& link = sample["links"][0];
  link["addr_info"].erase(2);
  link["linkinfo"]["info_data"] = {{"id", "5"}, {"protocol", "802.1Q"}, {"flag", "true"}};
  sample["links"].erase(1);
  sample["routes"][0].erase("protocol");
  sample["routes"][2]["nexthops"][0].erase("weight");
  sample["rdma"][0]["ports"][0]["gids"].erase(1);
  sample["gpus"][0].erase("numa_node");
  return sample;
}

}  // namespace

TEST_CASE("every member of a snapshot survives reading and writing") {
  const std::string written = write_snapshot(read(kFullSnapshot));
  CHECK(nlohmann::json::parse(written) == normal_sample());
  CHECK(write_snapshot(read(written)) == written);
}

TEST_CASE("the one-line layout is one line with the same content") {
  const HostSnapshot host = read(kFullSnapshot);
  const std::string line = write_snapshot(host, Layout::line);
  CHECK(line.find('\n') == line.size() - 1);
  CHECK(write_snapshot(read(line)) == write_snapshot(host));
}

TEST_CASE("what is absent or null stays unknown") {
  const HostSnapshot host =
      with(R"("links": [{"ifindex": 1, "ifname": "lo", "link": null, "mtu": null}], "rdma": null, "future": [1])");
  REQUIRE(host.links);
  CHECK_FALSE(host.rdma);
  CHECK_FALSE(host.gpus);
  CHECK_FALSE(host.process.memlock_bytes);
  CHECK_FALSE(host.links->at(0).lower);
  CHECK_FALSE(host.links->at(0).mtu);
  CHECK(with(R"("rdma": [])").rdma->empty());
}

TEST_CASE("NUMA node -1 is unknown, speed -1 too") {
  const HostSnapshot host = with(R"("links": [{"ifindex": 1, "ifname": "a", "numa_node": -1, "speed_mbps": -1}],
    "rdma": [{"name": "m", "numa_node": -1}], "pci": [{"id": "0000:01:00.0", "numa_node": -1}], "gpus": [{"index": 0, "numa_node": 2}])");
  CHECK_FALSE(host.links->at(0).numa_node);
  CHECK_FALSE(host.links->at(0).speed_mbps);
  CHECK_FALSE(host.rdma->at(0).numa_node);
  CHECK_FALSE(host.pci->at(0).numa_node);
  CHECK(host.gpus->at(0).numa_node == 2);
}

TEST_CASE("a default route takes its family from via, gateway, next hops, prefsrc, in this order") {
  const auto family = [](const std::string& rest) {
    return with(R"("routes": [{"dst": "default", )" + rest + "}]").routes->at(0).family;
  };
  CHECK(family(R"("dev": "a")") == Family::inet);
  CHECK(family(R"("via": {"family": "inet6", "host": "fe80::1"}, "dev": "a")") == Family::inet);
  CHECK(family(R"("gateway": "fe80::1", "dev": "a")") == Family::inet6);
  CHECK(family(R"("nexthops": [{"gateway": "fe80::1", "dev": "a"}])") == Family::inet6);
  CHECK(family(R"("nexthops": [{"via": {"family": "inet6", "host": "fe80::1"}, "dev": "a"}])") == Family::inet);
  CHECK(family(R"("dev": "a", "prefsrc": "2001:db8::1")") == Family::inet6);
  CHECK(with(R"("routes": [{"dst": "::/0", "dev": "a"}])").routes->at(0).family == Family::inet6);
  CHECK_FALSE(with(R"("routes": [{"dst": "::/0", "dev": "a"}])").routes->at(0).dst);
  CHECK(with(R"("routes": [{"dst": "2001:db8::/32", "dev": "a"}])").routes->at(0).family == Family::inet6);
}

TEST_CASE("the IPv6 default route without a gateway keeps its family through a round trip") {
  HostSnapshot host;
  host.routes.emplace(4);
  host.routes->at(0).family = Family::inet6;
  host.routes->at(1).family = Family::inet;
  host.routes->at(1).prefsrc = IpAddress::parse("2001:db8::1");
  host.routes->at(2).family = Family::inet;
  host.routes->at(2).gateway = IpAddress::parse("fe80::1");
  host.routes->at(3).family = Family::inet6;
  host.routes->at(3).nexthops.push_back({IpAddress::parse("fe80::1"), "eth0"});
  const HostSnapshot again = read(write_snapshot(host));
  for (std::size_t i = 0; i < 4; ++i) {
    INFO(i);
    CHECK(again.routes->at(i).family == host.routes->at(i).family);
    CHECK(again.routes->at(i).gateway == host.routes->at(i).gateway);
    CHECK_FALSE(again.routes->at(i).dst);
  }
}

TEST_CASE("names that are not UTF-8 are written as UTF-8") {
  HostSnapshot host;
  host.links.emplace(1);
  host.links->at(0).ifindex = 1;
  host.links->at(0).ifname = "e\xffth";
  CHECK(read(write_snapshot(host)).links->at(0).ifname == "e\xef\xbf\xbdth");
}

TEST_CASE("recorded hosts survive a round trip with all that they say") {
  for (const auto& path : test::recorded_hosts()) {
    const std::string text = test::file_text(path);
    INFO(path);
    const std::string written = write_snapshot(read(text));
    CHECK(write_snapshot(read(written)) == written);
    const auto before = nlohmann::json::parse(text), after = nlohmann::json::parse(written);
    for (const char* list : {"links", "routes", "gpus", "rdma", "pci", "numa", "paths", "peers", "plugins"})
      CHECK(before.value(list, nlohmann::json::array()).size() == after.value(list, nlohmann::json::array()).size());
  }
}
