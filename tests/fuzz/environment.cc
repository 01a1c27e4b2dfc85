// SPDX-License-Identifier: Apache-2.0
// Environment values, lines NAME=VALUE: read, turned into a policy, and decided with on a host that has everything.
#include "host/environment.h"

#include "decide/decide.h"
#include "document/document.h"
#include "fuzz.h"
#include "policy/policy_from.h"

using namespace topoguard;

namespace {

constexpr const char* kHost = R"({"schema":"topoguard.host/1","links":[
 {"ifindex":2,"ifname":"eth0","flags":["BROADCAST","UP","LOWER_UP"],"mtu":9000,"operstate":"UP","link_type":"ether",
  "parentbus":"pci","parentdev":"0000:31:00.0","speed_mbps":100000,
  "addr_info":[{"family":"inet","local":"10.60.0.11","prefixlen":24,"scope":"global"}]},
 {"ifindex":3,"ifname":"docker0","flags":["BROADCAST","UP","LOWER_UP"],"mtu":1500,"operstate":"UP",
  "link_type":"ether","linkinfo":{"info_kind":"bridge"},
  "addr_info":[{"family":"inet","local":"172.17.0.1","prefixlen":16,"scope":"global"}]}],
 "routes":[{"dst":"10.60.0.0/24","dev":"eth0","prefsrc":"10.60.0.11"},{"dst":"default","gateway":"10.60.0.1","dev":"eth0"}],
 "rdma":[{"name":"mlx5_0","node_type":"CA","driver":"mlx5_core","pci":"0000:31:00.0","ports":[{"port":1,
  "state":"ACTIVE","phys_state":"LinkUp","link_layer":"Ethernet","rate_gbps":100,"active_mtu":4096,"netdev":"eth0",
  "gids":[{"index":1,"gid":"fe80:0000:0000:0000:0000:0000:0000:0005","type":"RoCE v2","ndev":"eth0"},
          {"index":3,"gid":"0000:0000:0000:0000:0000:ffff:0a3c:000b","type":"RoCE v2","ndev":"eth0"}]}]}]})";

}  // namespace

FUZZ_TARGET {
  static const auto base = read_snapshot(kHost, "host");
  fuzz::require(base.host.has_value(), "the target's own host can be read");
  Sources sources;
  sources.sys = sources.proc = sources.etc = sources.dev = "/nonexistent";
  sources.live_environment = false;
  auto rest = fuzz::text_of(data, size);
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    std::string entry(rest.substr(0, end));
    entry.resize(std::min(entry.find('\0'), entry.size()));
    // The one setting that opens files: it has a target of its own.
    if (entry.rfind("TOPOGUARD_CONFIG=", 0) != 0 && entry.rfind("NCCL_CONF_FILE=", 0) != 0)
      sources.environment.push_back(std::move(entry));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  HostSnapshot host = *base.host;
  host::read_environment(sources, sources.environment, "2.28.9", host);
  const Decision decision = decide(host, policy_from(host));
  for (const auto& [name, value] : decision.env)
    fuzz::require(host.env.count(name) == 0, "the user's own variables are never set");
  for (const auto& finding : decision.findings)
    fuzz::require(fuzz::is_printable(finding.message), "messages are printable");
  fuzz::require(decision.devices.size() == 3, "every device has one verdict");
  return 0;
}
