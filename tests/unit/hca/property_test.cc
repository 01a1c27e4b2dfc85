// SPDX-License-Identifier: Apache-2.0
// What must hold on any host, tried on generated ones: each seed is a host, and a failure names it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "build.h"
#include "decide/hca_ports.h"
#include "nccl_rules/gid_search.h"
#include "nccl_rules/hcas.h"

using namespace test;

namespace {

using Random = std::mt19937;

int below(Random& random, int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); }
bool once_in(Random& random, int n) { return below(random, n) == 0; }

std::string address(Random& random) {
  switch (below(random, 5)) {
    case 0:
      return "fd00::" + std::to_string(1 + below(random, 9));
    case 1:
      return "169.254.0." + std::to_string(1 + below(random, 9));
    default:
      return "10.0." + std::to_string(below(random, 4)) + "." + std::to_string(1 + below(random, 9));
  }
}

HostSnapshot generate(unsigned seed) {
  Random random(seed);
  HostSnapshot host;
  host.links.emplace();
  host.rdma.emplace();
  const int count = 1 + below(random, 7);
  const double speeds[] = {25, 100, 200, 400};
  const int fast = below(random, 4);
  const bool mixed = once_in(random, 3), all_ib = once_in(random, 3);
  for (int i = 0; i < count; ++i) {
    const auto name = "mlx5_" + std::to_string(i);
    const double gbps = speeds[once_in(random, 4) ? below(random, 4) : fast];
    if (mixed ? once_in(random, 2) : all_ib) {
      ib(host, name, gbps);
    } else {
      const auto netdev = "eth" + std::to_string(i);
      auto& port = roce(host, name, netdev, address(random), gbps, below(random, 3));
      if (once_in(random, 3)) {
        const auto more = address(random);
        const auto ip = *IpAddress::parse(more);
        host.links->back().addr_info.push_back({ip, ip.family == Family::inet ? 24 : 64, "global", {}, {}});
        const int next = port.gids->back().index + 1;
        port.gids->push_back(gid(next, more, "IB/RoCE v1", netdev));
        port.gids->push_back(gid(next + 1, more, "RoCE v2", netdev));
      }
      if (once_in(random, 6)) port.gids->erase(port.gids->begin() + below(random, static_cast<int>(port.gids->size())));
      if (once_in(random, 6)) port.gids->back().type.reset();
      if (once_in(random, 6)) port.gids->front().ndev = "elsewhere";
      if (once_in(random, 9)) port.gids->clear();
      if (once_in(random, 9)) host.links->back().flags = {"BROADCAST"};
    }
    auto& made = device(host, name);
    if (once_in(random, 6)) made.usable = false;
    if (once_in(random, 6)) made.ports.back().state = once_in(random, 2) ? "DOWN" : "INIT";
    if (once_in(random, 8)) made.ports.back().rate_gbps.reset();
    made.numa_node = below(random, 2);
    made.pci = "0000:" + std::string(1, static_cast<char>('a' + below(random, 6))) + std::to_string(i) + ":00.0";
    if (i > 0 && once_in(random, 6)) made.physfn = host.rdma->front().pci;
  }
  for (int i = 0; i < below(random, 4); ++i) gpu(host, i, below(random, 2));
  if (once_in(random, 3)) host.peers = {*IpAddress::parse(address(random))};
  return host;
}

const std::vector<std::string> kReleases{"2.18.1", "2.18.6", "2.19.3", "2.20.5", "2.21.5", "2.22.3",
                                         "2.23.4", "2.24.3", "2.25.1", "2.26.2", "2.27.3", "2.27.7",
                                         "2.28.3", "2.28.9", "2.29.2", "2.29.7", "2.30.3", "2.30.7"};
constexpr unsigned kHosts = 400;

std::string picture(const HcaResult& result) {
  std::string text = env(result.env) + " | ";
  for (const auto& hca : result.hcas)
    text +=
        hca.name + ":" + std::to_string(hca.port) + "@" + (hca.gid_index ? std::to_string(*hca.gid_index) : "-") + " ";
  for (const auto& one : result.devices)
    text += "| " + one.name + " " + std::string(verdict_name(one.verdict)) + " " + one.reason;
  return text + " | " + codes(result.findings) + " | " + codes(result.use_findings);
}

}  // namespace

TEST_CASE("replaying what is published arrives at the decision, on every release") {
  int steered = 0;
  for (unsigned seed = 0; seed < kHosts; ++seed)
    for (const auto& text : kReleases) {
      auto host = generate(seed);
      host.nccl_version = text;
      CAPTURE(seed, text);
      const auto result = hcas(host);
      const auto release = *NcclRelease::parse(text);
      if (result.hcas.empty()) {
        CHECK((result.env.count("NCCL_IB_DISABLE") == 1 || nccl_hcas(release, *host.rdma, std::nullopt).empty()));
        continue;
      }
      const auto variable = [&](std::string_view name) -> const std::string* {
        const auto found = result.env.find(std::string(name));
        return found == result.env.end() ? nullptr : &found->second;
      };
      const auto* list = variable("NCCL_IB_HCA");
      const auto taken =
          nccl_hcas(release, *host.rdma, list != nullptr ? std::optional(NameList::parse(*list)) : std::nullopt);
      const auto settings = GidSettings::read(release, variable);
      REQUIRE(taken.size() == result.hcas.size());
      for (const auto& port : taken) {
        const auto decided = std::find_if(result.hcas.begin(), result.hcas.end(),
                                          [&](const HcaChoice& hca) { return hca.name == port.device->name; });
        REQUIRE(decided != result.hcas.end());
        CHECK(nccl_gid(release, decided->link_layer, *port.port->gids, settings).index == decided->gid_index);
      }
      steered += result.env.empty() ? 0 : 1;
    }
  CHECK(steered > 100);  // else this test would show nothing
}

TEST_CASE("never empty while a port can carry data, and every device has one verdict with a reason") {
  for (unsigned seed = 0; seed < kHosts; ++seed) {
    CAPTURE(seed);
    const auto host = generate(seed);
    const View view(host);
    std::vector<RuleMatch> trace;
    const auto states = survey_ports(view, {}, Topology(host), trace);
    const auto result = hcas(host);
    CHECK(result.hcas.empty() ==
          std::none_of(states.begin(), states.end(), [](const PortState& s) { return s.left(); }));
    std::set<std::string> names;
    for (const auto& one : result.devices) {
      CHECK(names.insert(one.name).second);
      CHECK_FALSE(one.reason.empty());
      CHECK_FALSE(one.detail.empty());
    }
    CHECK(names.size() == host.rdma->size());
  }
}

TEST_CASE("the order of the document does not matter") {
  for (unsigned seed = 0; seed < kHosts; ++seed) {
    CAPTURE(seed);
    auto host = generate(seed);
    const auto before = picture(hcas(host));
    Random random(seed + 1);
    std::shuffle(host.rdma->begin(), host.rdma->end(), random);
    std::shuffle(host.links->begin(), host.links->end(), random);
    if (host.gpus) std::shuffle(host.gpus->begin(), host.gpus->end(), random);
    for (auto& one : *host.rdma)
      for (auto& port : one.ports) std::shuffle(port.gids->begin(), port.gids->end(), random);
    CHECK(picture(hcas(host)) == before);
  }
}

TEST_CASE("a port that is down changes nothing for the others") {
  for (unsigned seed = 0; seed < kHosts; ++seed) {
    CAPTURE(seed);
    auto host = generate(seed);
    const auto before = hcas(host);
    ib(host, "zz_down", 800).state = "DOWN";
    roce(host, "zz_empty", "zz0", "10.0.0.77", 800).state = "DOWN";
    const auto after = hcas(host);
    CHECK(chosen(after) == chosen(before));
    CHECK(env(after.env) == env(before.env));
  }
}

TEST_CASE("rank, its GPU and its CPUs change no device") {
  for (unsigned seed = 0; seed < kHosts; ++seed) {
    CAPTURE(seed);
    auto host = generate(seed);
    const auto before = picture(hcas(host));
    host.process.gpu = 3;
    host.process.cpus_allowed = *CpuSet::parse("1");
    host.env["LOCAL_RANK"] = "5";
    host.env["CUDA_VISIBLE_DEVICES"] = "5";
    CHECK(picture(hcas(host)) == before);
  }
}

TEST_CASE("what the user set is never set by us") {
  const std::vector<std::pair<std::string, std::string>> settings{
      {"NCCL_IB_HCA", "mlx5_1"},           {"NCCL_IB_GID_INDEX", "1"},
      {"NCCL_IB_GID_INDEX", ""},           {"NCCL_IB_HCA", "^mlx5_0"},
      {"NCCL_IB_ADDR_FAMILY", "AF_INET6"}, {"NCCL_IB_ADDR_RANGE", "10.0.0.0/16"},
      {"NCCL_IB_ROCE_VERSION_NUM", "1"},   {"NCCL_IB_DISABLE", "0"}};
  for (unsigned seed = 0; seed < kHosts; ++seed)
    for (const auto& [name, value] : settings)
      for (const char* release : {"2.18.6", "2.25.1", "2.30.7"}) {
        CAPTURE(seed, name, value);
        auto host = generate(seed);
        host.nccl_version = release;
        host.env[name] = value;
        CHECK(hcas(host).env.count(name) == 0);
      }
}
