// SPDX-License-Identifier: Apache-2.0
// Where NCCL ends with an error, an error is found that names the setting, and where it does not, none is.
#include "hosts.h"

using namespace test;

namespace {

Host plain() {
  Host host;
  host.nic("eno1", {"10.0.0.11/24"}, 25000);
  host.route("default", "eno1", "10.0.0.1");
  host.snapshot.nccl_version = "2.28.9";
  return host;
}

Decision with(Host host, const std::map<std::string, std::string>& variables, const char* release = "2.28.9") {
  for (const auto& [name, value] : variables) host.snapshot.env[name] = value;
  host.snapshot.nccl_version = release;
  return host.decide();
}

/// The errors of the decision that name `what`, by code.
Strings errors(const Decision& decision, const std::string& what) {
  Strings list;
  for (const auto& finding : decision.findings)
    if (finding.severity == Severity::error && finding.message.find(what) != std::string::npos &&
        !finding.remedy.empty())
      list.push_back(finding.code);
  return list;
}

}  // namespace

TEST_CASE("an address family that no interface has") {
  const auto decision = with(plain(), {{"NCCL_SOCKET_FAMILY", "AF_INET6"}});
  CHECK(decision.transport == Transport::none);
  CHECK(errors(decision, "NCCL_SOCKET_FAMILY=AF_INET6") == Strings{"no-interface"});
  auto loopback = plain();
  loopback.get("lo").addr_info.push_back(address("::1/128"));  // NCCL passes over it
  CHECK(errors(with(loopback, {{"NCCL_SOCKET_FAMILY", "AF_INET6"}}), "NCCL_SOCKET_FAMILY") == Strings{"no-interface"});
  auto dual = plain();
  dual.get("eno1").addr_info.push_back(address("fd00::1/64"));
  CHECK(with(dual, {{"NCCL_SOCKET_FAMILY", "AF_INET6"}}).transport == Transport::socket);
  CHECK(errors(with(dual, {{"NCCL_SOCKET_FAMILY", "AF_INET6"}}), "").empty());
}

TEST_CASE("a network namespace without any address") {
  Host host;
  host.down("lo");
  host.get("lo").addr_info.clear();
  const auto decision = with(host, {});
  CHECK(decision.transport == Transport::none);
  CHECK(errors(decision, "") == Strings{"no-interface"});
  host.snapshot.links.reset();  // unknown is not none
  CHECK(errors(with(host, {}), "").empty());
  Host alone;
  CHECK(errors(with(alone, {}), "").empty());
}

TEST_CASE("NCCL_COMM_ID") {
  const auto said = [](const char* value, const char* release = "2.28.9") {
    return errors(with(plain(), {{"NCCL_COMM_ID", value}}, release), std::string("NCCL_COMM_ID=") + value);
  };
  CHECK(said("10.0.0.12:1234").empty());
  CHECK(said("rank0.example.com:1234").empty());  // what it resolves to is not known here
  CHECK(said("10.222.0.9:1234") == Strings{"comm-id-no-interface"});
  CHECK(said("[fd00::9]:1234") == Strings{"comm-id-no-interface"});
  for (const auto* junk : {"foo", "f", ":1234", "[fd00::9:1234", "[foo]:1234"}) {
    CAPTURE(junk);
    CHECK(said(junk) == Strings{"env-syntax"});
  }
  // 2.29.2 to 2.29.7 look outside the subnet: lo is there.
  CHECK(said("10.0.0.12:1234", "2.29.3").empty());
  CHECK(said("10.222.0.9:1234", "2.29.3").empty());
  Host one;
  one.snapshot.links->clear();
  one.nic("eno1", {"10.0.0.11/24"});
  CHECK(errors(with(one, {{"NCCL_COMM_ID", "10.0.0.12:1"}}, "2.29.3"), "outside") == Strings{"comm-id-no-interface"});
}

TEST_CASE("NCCL_NET allows one network, and that one is not to be had") {
  auto host = plain();
  CHECK(with(host, {{"NCCL_NET", "IB"}}).transport == Transport::none);
  CHECK(errors(with(host, {{"NCCL_NET", "IB"}}), "NCCL_NET=IB") == Strings{"network-unusable"});
  host.hca("mlx5_0");
  CHECK(errors(with(host, {{"NCCL_NET", "IB"}}), "").empty());
  const auto both = with(host, {{"NCCL_NET", "IB"}, {"NCCL_IB_DISABLE", "1"}});
  CHECK(both.transport == Transport::none);
  CHECK(both.hcas.empty());
  CHECK(errors(both, "NCCL_NET=IB and NCCL_IB_DISABLE=1") == Strings{"network-unusable"});
  CHECK(errors(with(host, {{"NCCL_NET", "ib"}, {"NCCL_IB_DISABLE", "0"}}), "").empty());
  CHECK(errors(with(host, {{"NCCL_NET", "Socket"}, {"NCCL_IB_DISABLE", "1"}}), "").empty());

  CHECK(with(host, {{"NCCL_NET", "mlx5"}}).transport == Transport::ib);  // no list of plugins is not an empty one
  host.snapshot.plugins.emplace();
  const auto other = with(host, {{"NCCL_NET", "mlx5"}});
  CHECK(other.transport == Transport::none);
  CHECK(other.env.empty());
  CHECK(errors(other, "NCCL_NET=mlx5") == Strings{"base-network-missing"});
  host.snapshot.plugins = std::vector<Plugin>{{"/opt/x/libnccl-net.so", "net", {"v8"}}};
  CHECK(with(host, {{"NCCL_NET", "mlx5"}}).transport == Transport::ib);
}
