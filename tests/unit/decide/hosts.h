// SPDX-License-Identifier: Apache-2.0
// Small hosts for the tests of interfaces and sockets, built by hand: lo, then what the test adds, each device up, with
// carrier and the next ifindex. The kernel's connected routes come by themselves.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "decide/decide.h"
#include "decide/view.h"
#include "topoguard/policy.h"
#include "topoguard/snapshot.h"

namespace test {

using namespace topoguard;
using Strings = std::vector<std::string>;

inline LinkAddress address(const std::string& text) {
  LinkAddress made;
  const auto prefix = Prefix::parse(text);
  REQUIRE(prefix);
  made.local = prefix->address;
  made.prefixlen = prefix->length;
  made.scope = made.local.is_loopback() ? "host" : made.local.is_link_local() ? "link" : "global";
  return made;
}

struct Host {
  HostSnapshot snapshot;
  Policy policy;

  Host() {
    snapshot.links.emplace();
    snapshot.links->reserve(512);  // references stay valid
    snapshot.routes.emplace();
    auto& lo = add("lo", "", {"127.0.0.1/8"});
    lo.flags = {"LOOPBACK", "UP", "LOWER_UP"};
    lo.link_type = "loopback";
    lo.operstate = "UNKNOWN";
  }

  Link& add(const std::string& name, const std::string& kind, const Strings& addresses = {}) {
    Link made;
    made.ifindex = static_cast<int>(snapshot.links->size()) + 1;
    made.ifname = name;
    made.flags = {"BROADCAST", "MULTICAST", "UP", "LOWER_UP"};
    made.operstate = "UP";
    made.link_type = "ether";
    made.mtu = 1500;
    if (!kind.empty()) made.kind = kind;
    for (const auto& text : addresses) made.addr_info.push_back(address(text));
    snapshot.links->push_back(made);
    for (const auto& own : made.addr_info)
      if (!own.local.is_loopback() && own.prefixlen < own.local.bits()) connect(name, own);
    return snapshot.links->back();
  }

  Link& nic(const std::string& name, const Strings& addresses = {}, std::int64_t mbps = 0) {
    auto& made = add(name, "", addresses);
    made.parentbus = "pci";
    made.parentdev = "0000:0" + std::to_string(made.ifindex) + ":00.0";
    if (mbps) made.speed_mbps = mbps;
    return made;
  }

  /// A pair's end here; the other end is in another namespace.
  Link& veth(const std::string& name, const Strings& addresses = {}) {
    auto& made = add(name, "veth", addresses);
    made.link_netnsid = 0;
    made.speed_mbps = 10000;
    made.driver = "veth";
    return made;
  }

  Link& over(const std::string& name, const std::string& kind, const std::string& lower,
             const Strings& addresses = {}) {
    auto& made = add(name, kind, addresses);
    if (lower.empty())
      made.link_netnsid = 0;
    else
      made.lower = lower;
    return made;
  }

  Link& get(const std::string& name) {
    for (auto& link : *snapshot.links)
      if (link.ifname == name) return link;
    FAIL("no link " << name);
    throw 0;
  }

  void enslave(const std::string& master, const Strings& slaves) {
    for (const auto& name : slaves) {
      get(name).master = master;
      get(name).slave_kind = get(master).kind;
    }
  }

  void down(const std::string& name) {
    get(name).flags = {"BROADCAST", "MULTICAST"};
    get(name).operstate = "DOWN";
  }

  void unplug(const std::string& name) {
    get(name).flags = {"NO-CARRIER", "BROADCAST", "MULTICAST", "UP"};
    get(name).operstate = "DOWN";
  }

  Route& route(const std::string& dst, const std::string& dev, const std::string& gateway = "", int metric = 0) {
    Route made;
    if (dst == "default6") made.family = Family::inet6;
    if (dst != "default" && dst != "default6") {
      made.dst = *Prefix::parse(dst);
      made.family = made.dst->address.family;
    }
    if (!dev.empty()) made.dev = dev;
    if (!gateway.empty()) made.gateway = *IpAddress::parse(gateway);
    if (metric) made.metric = static_cast<std::uint32_t>(metric);
    snapshot.routes->push_back(made);
    return snapshot.routes->back();
  }

  void peers(const Strings& texts) {
    for (const auto& text : texts) snapshot.peers.push_back(*IpAddress::parse(text));
  }

  RdmaDevice& hca(const std::string& name) {
    if (!snapshot.rdma) snapshot.rdma.emplace();
    RdmaDevice made;
    made.name = name;
    made.usable = true;
    RdmaPort port;
    port.state = "ACTIVE";
    port.link_layer = "InfiniBand";
    port.rate_gbps = 200;
    port.lid = 1;
    made.ports.push_back(port);
    snapshot.rdma->push_back(made);
    return snapshot.rdma->back();
  }

  Decision decide() const { return topoguard::decide(snapshot, policy); }

 private:
  void connect(const std::string& name, const LinkAddress& own) {
    Route made;
    made.dst = Prefix{own.local, own.prefixlen}.network();
    made.family = own.family();
    made.dev = name;
    if (own.family() == Family::inet) made.prefsrc = own.local;
    snapshot.routes->push_back(made);
  }
};

inline const DeviceVerdict& verdict(const Decision& decision, const std::string& name) {
  for (const auto& device : decision.devices)
    if (device.name == name) return device;
  FAIL("no verdict for " << name);
  throw 0;
}

inline std::string reason(const Decision& decision, const std::string& name) { return verdict(decision, name).reason; }

inline bool finds(const Decision& decision, const std::string& code) {
  return std::any_of(decision.findings.begin(), decision.findings.end(), [&](const auto& f) { return f.code == code; });
}

inline Strings codes(const Decision& decision) {
  Strings list;
  for (const auto& finding : decision.findings) list.push_back(finding.code);
  return list;
}

inline std::string env(const Decision& decision, const std::string& name) {
  const auto at = decision.env.find(name);
  return at == decision.env.end() ? "(unset)" : at->second;
}

}  // namespace test
