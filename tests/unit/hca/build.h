// SPDX-License-Identifier: Apache-2.0
// Small hosts for the HCA tests, built by hand. Every device is usable, ACTIVE and up unless a test changes it.
#pragma once

#include <string>
#include <vector>

#include "decide/gpus.h"
#include "decide/hcas.h"
#include "topoguard/snapshot.h"

namespace test {

using namespace topoguard;

inline GidEntry gid(int index, const std::string& address, const std::string& type, const std::string& ndev) {
  GidEntry entry;
  entry.index = index;
  const auto ip = IpAddress::parse(address);
  entry.gid = *Gid::parse(ip && ip->family == Family::inet ? "::ffff:" + address : address);
  if (!type.empty()) entry.type = type;
  if (!ndev.empty()) entry.ndev = ndev;
  return entry;
}

inline Link link(int ifindex, const std::string& name, const std::string& address = "", int prefixlen = 24) {
  Link made;
  made.ifindex = ifindex;
  made.ifname = name;
  made.flags = {"BROADCAST", "MULTICAST", "UP", "LOWER_UP"};
  made.mtu = 9000;
  made.operstate = "UP";
  made.link_type = "ether";
  made.parentbus = "pci";
  if (!address.empty()) made.addr_info.push_back({*IpAddress::parse(address), prefixlen, "global", {}, {}});
  return made;
}

/// Link-local and address entries, v1 and v2 of each, as mlx5 lists them.
inline std::vector<GidEntry> table(const std::string& ndev, const std::string& address, int first = 0) {
  return {gid(first, "fe80::200:ff:fe00:1", "IB/RoCE v1", ndev), gid(first + 1, "fe80::200:ff:fe00:1", "RoCE v2", ndev),
          gid(first + 2, address, "IB/RoCE v1", ndev), gid(first + 3, address, "RoCE v2", ndev)};
}

inline RdmaDevice& device(HostSnapshot& host, const std::string& name) {
  if (!host.rdma) host.rdma.emplace();
  for (auto& known : *host.rdma)
    if (known.name == name) return known;
  RdmaDevice made;
  made.name = name;
  made.node_type = "CA";
  made.driver = "mlx5_core";
  made.usable = true;
  host.rdma->push_back(made);
  return host.rdma->back();
}

inline RdmaPort& ib(HostSnapshot& host, const std::string& name, double gbps = 200) {
  auto& made = device(host, name);
  RdmaPort port;
  port.port = static_cast<int>(made.ports.size()) + 1;
  port.state = "ACTIVE";
  port.phys_state = "LinkUp";
  port.link_layer = "InfiniBand";
  port.rate_gbps = gbps;
  port.lid = 7;
  port.sm_lid = 1;
  port.gids = std::vector<GidEntry>{gid(0, "fe80::1", "IB/RoCE v1", "")};
  made.ports.push_back(port);
  return made.ports.back();
}

/// A RoCE port with a netdev of its own, which is added to the host with the address ("": none but the link-local).
inline RdmaPort& roce(HostSnapshot& host, const std::string& name, const std::string& netdev,
                      const std::string& address, double gbps = 200, int first = 0) {
  if (!host.links) host.links.emplace();
  host.links->push_back(link(static_cast<int>(host.links->size()) + 1, netdev, address));
  auto& made = device(host, name);
  RdmaPort port;
  port.port = static_cast<int>(made.ports.size()) + 1;
  port.state = "ACTIVE";
  port.phys_state = "LinkUp";
  port.link_layer = "Ethernet";
  port.rate_gbps = gbps;
  port.netdev = netdev;
  port.gids = table(netdev, address.empty() ? "10.255.255.255" : address, first);
  if (address.empty()) port.gids->resize(2);
  made.ports.push_back(port);
  return made.ports.back();
}

inline Gpu& gpu(HostSnapshot& host, int index, int node = 0) {
  if (!host.gpus) host.gpus.emplace();
  Gpu made;
  made.index = index;
  made.numa_node = node;
  host.gpus->push_back(made);
  return host.gpus->back();
}

inline HcaResult hcas(const HostSnapshot& host, const Policy& policy = {}) {
  const View view(host);
  const Topology topology(host);
  return choose_hcas(view, policy, read_user_settings(view), topology);
}

inline std::string chosen(const HcaResult& result) {
  std::string names;
  for (const auto& hca : result.hcas) names += (names.empty() ? "" : " ") + hca.name + ":" + std::to_string(hca.port);
  return names;
}

inline DeviceVerdict verdict(const HcaResult& result, const std::string& name) {
  for (const auto& device : result.devices)
    if (device.name == name) return device;
  return {DeviceKind::hca, "none of that name", Verdict::rejected, "", ""};
}

inline std::string codes(const std::vector<Finding>& findings) {
  std::string text;
  for (const auto& finding : findings) text += (text.empty() ? "" : " ") + finding.code;
  return text;
}

inline std::string env(const std::map<std::string, std::string>& variables) {
  std::string text;
  for (const auto& [name, value] : variables) text += (text.empty() ? "" : " ") + name + "=" + value;
  return text;
}

}  // namespace test
