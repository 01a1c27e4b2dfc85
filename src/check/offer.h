// SPDX-License-Identifier: Apache-2.0
// The addresses of this host that a job would use, by its decision: the interface of the bootstrap, those of the data
// where it goes over sockets, and the netdev and GID of every chosen RoCE port. Pure function.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topoguard/decision.h"
#include "topoguard/snapshot.h"

namespace topoguard::check {

enum class Use : std::uint8_t { socket, rdma };
std::string_view use_name(Use use);

struct Offer {
  Use use = Use::socket;
  std::string device;  ///< "eth0", or the HCA: "mlx5_0"
  std::string netdev;
  IpAddress address;
  int mtu = 0;  ///< of the netdev, bytes; 0 = unknown
  std::uint16_t tcp_port = 0, udp_port = 0;
  int ifindex = 0;  ///< this host's own matter: not told to others

  /// "mlx5_0 (eth2) 10.1.0.1"
  std::string text() const;
};

/// Sockets first, then RDMA, each in NCCL's order. InfiniBand ports have no address that TCP could try and are left
/// out.
std::vector<Offer> offers(const HostSnapshot& host, const Decision& decision);

/// Positions in `offers` of one use.
std::vector<std::size_t> of_use(const std::vector<Offer>& offers, Use use);

}  // namespace topoguard::check
