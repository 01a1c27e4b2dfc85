// SPDX-License-Identifier: Apache-2.0
// Which network interfaces NCCL takes on a host, by itself or with given variables, release by release.
// Sources: ncclFindInterfaces, findInterfaces and ncclFindInterfaceMatchSubnet in misc/socket.cc (2.18 to 2.28) and
// os/linux.cc (2.29 and later); bootstrapNetInit in bootstrap.cc.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nccl_rules/release.h"
#include "topoguard/snapshot.h"

namespace topoguard {

/// IFF_UP and IFF_RUNNING (netdevice(7)): up, and operstate up or unknown.
bool link_running(const Link& link);

struct HostAddress {
  const Link* link = nullptr;
  const LinkAddress* address = nullptr;

  /// The name under which getifaddrs(3) lists it: an IPv4 address's alias label, where it has one.
  const std::string& name() const { return address->label.empty() ? link->ifname : address->label; }
};

/// Every address in the order in which getifaddrs(3) lists them: IPv4, then IPv6, each by the kernel's device order.
/// That order is by ifindex; before Linux 6.9 by ifindex modulo 256, the newest first (net/core/dev.c NETDEV_HASHBITS,
/// net/ipv4/devinet.c inet_dump_ifaddr). References into `links`.
std::vector<HostAddress> getifaddrs_order(const std::vector<Link>& links, const std::optional<std::string>& kernel);

/// A variable's value, nullptr where it is unset.
using FindVariable = std::function<const std::string*(std::string_view)>;

struct NcclInterface {
  std::string
      name;  ///< as NCCL lists it: the device's, or an address's alias label ("eth0:1"), a device of its own to NCCL
  IpAddress address;
  std::string device;  ///< Link::ifname

  bool operator==(const NcclInterface&) const = default;
};

/// At most this many interfaces for the Socket transport (MAX_IFS); the InfiniBand side channel and the bootstrap
/// take one.
inline constexpr std::size_t kMaxInterfaces = 16;

/// What the transports take, in NCCL's order. Empty: NCCL finds none and the transport fails.
std::vector<NcclInterface> nccl_interfaces(const NcclRelease& release, const std::vector<HostAddress>& addresses,
                                           const FindVariable& find, std::size_t limit = kMaxInterfaces);

struct BootstrapPick {
  std::optional<NcclInterface> interface;  ///< empty: NCCL stops with an error, or it cannot be told
  bool unknown = false;                    ///< NCCL_COMM_ID is a host name, which only a resolver can turn around
};

/// What the bootstrap takes: with NCCL_COMM_ID only an interface in that address's subnet, whatever else is set.
BootstrapPick nccl_bootstrap(const NcclRelease& release, const std::vector<HostAddress>& addresses,
                             const FindVariable& find);

/// "10.0.0.1:2000", "[2001:db8::1]:2000", "[fe80::1%eth0]:2000". nullopt for host names and for what NCCL refuses.
struct CommIdAddress {
  IpAddress address;
  std::string zone;  ///< "" = none
};
std::optional<CommIdAddress> parse_comm_id(std::string_view text);

}  // namespace topoguard
