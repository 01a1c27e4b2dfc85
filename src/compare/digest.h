// SPDX-License-Identifier: Apache-2.0
// What the comparison keeps of one host.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "topoguard/decision.h"
#include "topoguard/snapshot.h"

namespace topoguard {

/// One way out of a host: a chosen interface, or the netdev of a chosen RoCE port, with the address used on it.
struct Endpoint {
  IpAddress address;
  Prefix subnet;
  bool routes_known = true;   ///< false: whom it reaches cannot be told
  std::vector<Prefix> reach;  ///< prefixes that leave by it; none inside another, sorted by address
  std::vector<Prefix> lost;   ///< narrower prefixes inside them that leave another way; likewise
};

struct HostDigest {
  std::string name;
  Transport transport = Transport::none;
  std::optional<std::string> nccl_version;
  std::map<std::string, std::string> env;  ///< the user's NCCL_*

  std::size_t hca_count = 0;
  // Each as text, equal where the hosts agree; empty: unknown or not a matter for this transport.
  std::optional<std::string> link_layers, gid_types, speeds, mtus, netdev_mtus;

  std::vector<Endpoint> interfaces;       ///< bootstrap, and data where that goes over sockets
  std::vector<Endpoint> rails;            ///< RoCE ports in NCCL's order
  std::vector<std::string> rail_subnets;  ///< of these, one for each; empty where one is unknown
  bool subnet_aware = false;  ///< NCCL_IB_SUBNET_AWARE_ROUTING: NCCL itself picks the port in the peer's subnet
};

HostDigest digest(std::string name, const HostSnapshot& host, const Decision& decision);

}  // namespace topoguard
