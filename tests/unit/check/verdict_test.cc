// SPDX-License-Identifier: Apache-2.0
#include "check/verdict.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "check/check_text.h"
#include "check/path_mtu.h"
#include "check/trouble.h"
#include "document/printable.h"

using namespace topoguard;
using namespace topoguard::check;

namespace {

// All well between `count` hosts of one address each.
Gathered healthy(int count) {
  Gathered out;
  out.placement.ranks = count;
  for (int i = 0; i < count; ++i) {
    HostSeen host;
    host.reported = true;
    host.hello.rank = i;
    host.hello.ranks = count;
    host.hello.host = "node-" + std::to_string(i);
    host.hello.topoguard = "0.1.0";
    Offer offer;
    offer.device = offer.netdev = "eth0";
    offer.address = *IpAddress::parse("10.0.0." + std::to_string(i + 1));
    offer.mtu = 1500;
    offer.tcp_port = offer.udp_port = 40000;
    host.hello.offers = {offer};
    host.hello.digest.transport = Transport::socket;
    if (i > 0) host.clock = ClockOffset{0.0001, 0.0002};
    for (int j = 0; j < count; ++j) {
      if (j == i) continue;
      Probe probe;
      probe.partner = j;
      probe.tcp = Reach::ok;
      probe.mtu_state = MtuState::full;
      probe.mtu = probe.mtu_wanted = 1500;
      host.probes.push_back(probe);
    }
    out.hosts.push_back(std::move(host));
  }
  return out;
}

Probe& probe(Gathered& gathered, int from, int to) {
  auto& probes = gathered.hosts[static_cast<std::size_t>(from)].probes;
  return *std::find_if(probes.begin(), probes.end(), [to](const Probe& one) { return one.partner == to; });
}

std::vector<std::string> codes(const Gathered& gathered) {
  std::vector<std::string> out;
  for (const Finding& finding : findings(gathered)) {
    CHECK_FALSE(finding.message.empty());
    CHECK((finding.severity == Severity::info || !finding.remedy.empty()));
    out.push_back(finding.code);
  }
  return out;
}

using Codes = std::vector<std::string>;

}  // namespace

TEST_CASE("a healthy cluster has no findings") { CHECK(codes(healthy(5)).empty()); }

TEST_CASE("each outcome has its finding") {
  const std::pair<Reach, const char*> rows[] = {
      {Reach::refused, "connect-refused"},         {Reach::silent, "connect-silent"},
      {Reach::unreachable, "connect-unreachable"}, {Reach::stalled, "connect-stalled"},
      {Reach::broken, "connect-stalled"},          {Reach::other_family, "family-mismatch"}};
  for (const auto& [reach, code] : rows) {
    Gathered one = healthy(3);
    probe(one, 0, 1).tcp = reach;
    INFO(code);
    CHECK(codes(one) == Codes{code});
    const Finding finding = findings(one).front();
    CHECK(finding.device == "node-0 eth0");
    CHECK(finding.message.find("node-0 eth0 10.0.0.1 to node-1 eth0 10.0.0.2: ") == 0);
  }
}

TEST_CASE("both ways is one finding, and a host that nobody reaches is one") {
  Gathered pair = healthy(3);
  probe(pair, 0, 1).tcp = probe(pair, 1, 0).tcp = Reach::silent;
  REQUIRE(codes(pair) == Codes{"connect-silent"});
  CHECK(findings(pair).front().message.find("both ways") != std::string::npos);

  Gathered one = healthy(8);
  for (int i = 0; i < 8; ++i)
    if (i != 3) probe(one, i, 3).tcp = Reach::silent;
  REQUIRE(codes(one) == Codes{"connect-silent"});
  CHECK(findings(one).front().device == "node-3 eth0");
  CHECK(findings(one).front().message.find("from 7 addresses to node-3 eth0 10.0.0.4") == 0);
  CHECK(findings(one).front().message.find("and 1 more") != std::string::npos);
}

TEST_CASE("a thousand troubles are few lines") {
  Gathered all = healthy(40);
  for (auto& host : all.hosts)
    for (Probe& one : host.probes) one.tcp = Reach::silent;
  CHECK(codes(all).size() <= 40);
}

TEST_CASE("a stall that vanishing packets explain is not told twice") {
  Gathered one = healthy(2);
  Probe& way = probe(one, 0, 1);
  way.tcp = Reach::stalled;
  way.mtu_state = MtuState::black_hole;
  way.mtu = 1400;
  REQUIRE(codes(one) == Codes{"path-mtu-black-hole"});
  CHECK(findings(one).front().message.find("over 1400 bytes") != std::string::npos);
  way.mtu_state = MtuState::full;
  CHECK(codes(one) == Codes{"connect-stalled"});
}

TEST_CASE("a smaller MTU that routers tell is a warning to TCP and an error to RoCE") {
  Gathered one = healthy(2);
  probe(one, 0, 1).mtu_state = MtuState::told;
  probe(one, 0, 1).mtu = 1400;
  CHECK(findings(one).front().severity == Severity::warning);
  for (auto& host : one.hosts) host.hello.offers[0].use = Use::rdma;
  CHECK(findings(one).front().severity == Severity::error);
}

TEST_CASE("clocks count beyond their uncertainty only") {
  Gathered one = healthy(2);
  one.hosts[1].clock = ClockOffset{-1.5, 0.4};
  CHECK(codes(one) == Codes{"clock-skew"});
  CHECK(findings(one).front().message.find("1.5 s behind that of node-0") != std::string::npos);
  one.hosts[1].clock = ClockOffset{-1.5, 0.6};
  CHECK(codes(one).empty());
}

TEST_CASE("who is missing is named") {
  Gathered one = healthy(2);
  one.placement.ranks = 4;
  one.placement.hosts = {"a", "b", "c", "d"};
  one.missing = {2, 3};
  one.missing_count = 2;
  REQUIRE(codes(one) == Codes{"rank-missing"});
  CHECK(findings(one).front().message.find("rank 2 (c), rank 3 (d) did not come") == 0);
  one.missing.clear();
  CHECK(findings(one).front().message.find("2 of 4 ranks did not come") == 0);
}

TEST_CASE("decisions that differ are compared as snapshots are") {
  Gathered one = healthy(3);
  one.hosts[2].hello.digest.transport = Transport::ib;
  one.hosts[2].hello.topoguard = "0.2.0";
  const auto found = codes(one);
  CHECK(std::count(found.begin(), found.end(), "transport-mismatch") == 1);
  CHECK(std::count(found.begin(), found.end(), "topoguard-version-mismatch") == 1);
}

TEST_CASE("routes that look wrong and work are not reported") {
  Gathered one = healthy(2);
  for (auto& host : one.hosts) {
    Endpoint end;
    end.address = host.hello.offers[0].address;
    end.subnet = Prefix{end.address, 32};
    end.reach = {end.subnet};
    host.hello.digest.interfaces = {end};
  }
  CHECK(codes(one).empty());
  probe(one, 0, 1).tcp = Reach::unreachable;
  const auto found = codes(one);
  CHECK(std::count(found.begin(), found.end(), "subnet-mismatch") == 1);
}

TEST_CASE("what a peer says cannot lead out of our lists") {
  Gathered one = healthy(2);
  probe(one, 0, 1).to = 63;
  probe(one, 1, 0).partner = 60000;
  CHECK(codes(one).empty());
  CHECK_FALSE(check_text(one, findings(one), {}).empty());
  CHECK_FALSE(check_json(one, findings(one)).empty());
}

TEST_CASE("text fits 100 columns, and of many hosts shows those with a trouble") {
  Gathered many = healthy(70);
  many.hosts[3].hello.host = std::string(120, 'h');
  many.hosts[4].hello.offers[0].device = std::string(60, 'd');
  probe(many, 4, 5).tcp = Reach::silent;
  for (const bool verbose : {false, true}) {
    const std::string text = check_text(many, findings(many), {false, verbose});
    std::size_t begin = 0;
    for (auto end = text.find('\n'); end != std::string::npos; begin = end + 1, end = text.find('\n', begin))
      CHECK(columns(std::string_view(text).substr(begin, end - begin)) <= 100);
    CHECK((text.find("node-69 ") != std::string::npos) == verbose);
    CHECK(text.find("no answer") != std::string::npos);
  }
}

TEST_CASE("hosts of one name are told apart by rank") {
  Gathered one = healthy(3);
  one.hosts[0].hello.host = one.hosts[2].hello.host = "same";
  one.hosts[1].hello.host = "";
  CHECK(labels(one) == std::vector<std::string>{"same#0", "rank#1", "same#2"});
}

TEST_CASE("the search for a path's MTU closes in") {
  for (const int truth : {577, 1280, 1337, 1400, 1499, 4096, 8999}) {
    int low = 576, high = 9000, rounds = 0;
    while (true) {
      const auto sizes = sizes_between(low, high, 0);
      if (sizes.empty()) break;
      CHECK(sizes.size() <= 16);
      CHECK(*sizes.begin() > low);
      CHECK(*sizes.rbegin() < high);
      for (const int size : sizes)
        (size <= truth ? low : high) = size <= truth ? std::max(low, size) : std::min(high, size);
      ++rounds;
    }
    CHECK(low == truth);
    CHECK(rounds <= 4);
  }
  CHECK(sizes_between(576, 9000, 1400).count(1400) == 1);
  CHECK(sizes_between(576, 577, 1400).empty());
}
