// SPDX-License-Identifier: Apache-2.0
// Filters of the operator's that cannot be followed are warned of, others are not.
#include "hosts.h"

using namespace test;

namespace {

Host plain() {
  Host host;
  host.nic("eno1", {"10.0.0.11/24"}, 25000);
  host.nic("eno2", {"10.1.0.11/24"}, 25000);
  host.nic("eno3");
  host.down("eno3");
  host.route("default", "eno1", "10.0.0.1");
  host.hca("mlx5_0");
  host.hca("mlx5_1");
  return host;
}

Selector selector(const std::string& text) {
  Selector made;
  made.text = text;
  if (const auto prefix = Prefix::parse(text)) {
    made.by = Selector::By::prefix;
    made.prefix = *prefix;
  }
  return made;
}

std::vector<Selector> selectors(const Strings& texts) {
  std::vector<Selector> list;
  for (const auto& text : texts) list.push_back(selector(text));
  return list;
}

/// "severity code" of each finding about a filter; each must name the setting, what is used and what to do.
Strings said(const Host& host, const std::string& setting) {
  Strings list;
  for (const auto& finding : host.decide().findings) {
    if (finding.code.rfind("filter-", 0) != 0) continue;
    CHECK_THAT(finding.message, Catch::Contains(setting));
    CHECK_FALSE(finding.remedy.empty());
    list.push_back(std::string(severity_name(finding.severity)) + " " + finding.code);
  }
  return list;
}

}  // namespace

TEST_CASE("TOPOGUARD_INCLUDE") {
  auto host = plain();
  const auto include = [&](const Strings& texts) {
    host.policy.include = selectors(texts);
    return said(host, "TOPOGUARD_INCLUDE");
  };
  CHECK(include({"eno1"}).empty());
  CHECK(include({"mlx5_0"}).empty());
  CHECK(include({"eno1", "elsewhere"}).empty());  // one list for many hosts
  CHECK(include({"10.1.0.0/16"}).empty());
  CHECK(include({"eno11"}) == Strings{"warning filter-no-match"});
  CHECK(include({"192.168.0.0/16"}) == Strings{"warning filter-no-match"});
  CHECK(include({"eno3"}) == Strings{"warning filter-ignored"});
  host.policy.exclude = selectors({"eno1"});
  CHECK(include({"eno1"}) == Strings{"warning filter-ignored"});
  CHECK_THAT(host.decide().findings.front().message, Catch::Contains("TOPOGUARD_EXCLUDE"));
  host.policy.exclude.clear();
  host.snapshot.env["NCCL_SOCKET_IFNAME"] = "=eno1";  // decides in its place
  CHECK(include({"eno3"}).empty());
}

TEST_CASE("TOPOGUARD_EXCLUDE") {
  auto host = plain();
  const auto exclude = [&](const Strings& texts) {
    host.policy.exclude = selectors(texts);
    return said(host, "TOPOGUARD_EXCLUDE");
  };
  CHECK(exclude({"eno2"}).empty());
  CHECK(exclude({"eno3"}).empty());
  CHECK(exclude({"mlx5_1", "mlx5_9"}).empty());
  CHECK(exclude({"mlx5_9"}) == Strings{"info filter-no-match"});
  CHECK(exclude({"0.0.0.0/0"}) == Strings{"warning filter-ignored"});
  CHECK(exclude({"mlx5_0", "mlx5_1"}) == Strings{"warning filter-ignored"});
  CHECK_THAT(host.decide().findings.front().message, Catch::Contains("mlx5_0, mlx5_1 are used"));
  host.snapshot.env["NCCL_IB_DISABLE"] = "1";
  CHECK(exclude({"mlx5_0", "mlx5_1"}).empty());
}

TEST_CASE("TOPOGUARD_SUBNETS") {
  auto host = plain();
  const auto subnets = [&](const char* text) {
    host.policy.subnets = {*Prefix::parse(text)};
    return said(host, "TOPOGUARD_SUBNETS");
  };
  CHECK(subnets("10.1.0.0/16").empty());
  CHECK(subnets("172.16.0.0/12") == Strings{"warning filter-no-match"});
  host.get("eno3").addr_info.push_back(address("172.16.0.1/24"));
  CHECK(subnets("172.16.0.0/12") == Strings{"warning filter-ignored"});
}
