// SPDX-License-Identifier: Apache-2.0
// The two ends of a connection: what this process knows of its own device, what it can tell of the peer's, and where
// the two do not fit. Plain values, no system call; safe to call from any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/session.h"
#include "watch/trailer.h"

namespace topoguard::watch {

/// What NCCL's own properties say of a device.
struct DeviceName {
  int number = -1;
  std::string name;  ///< "mlx5_0", "eth0", "mlx5_0+mlx5_1" for a merged one; "" unknown
  int port = 0;
  int speed_mbps = 0;
};

/// One end here: the device, and what goes into its trailer.
struct OwnEnd {
  DeviceName device;
  std::string transport;         ///< "IB", "Socket", or a foreign plugin's own name
  std::string netdev;            ///< below an HCA; a socket's own; "" unknown
  bool merged = false;           ///< one of several HCAs: the address is the first one's
  std::optional<int> gid_index;  ///< RoCE only
  Trailer facts;
};

/// From the decision, and the snapshot where the decision has not that device (the user's own choice).
OwnEnd own_end(const Session& session, Carrier carrier, std::string transport, const DeviceName& device,
               int nccl_release);

/// An address and port as NCCL's stock transports keep them at the start of a handle (ncclSocketAddress: a sockaddr_in
/// or sockaddr_in6; misc/socket.cc and os/linux.cc of 2.18 to 2.30).
struct SocketAddress {
  IpAddress address;
  int port = 0;
  std::string text() const;  ///< "10.0.0.1:41234", "[fd00::1]:41234"
};
std::optional<SocketAddress> handle_address(const void* handle);

void set_address(Trailer& facts, const IpAddress& address);

/// "mlx5_0 port 1", "eth0", "device 3".
std::string device_text(const DeviceName& device);
/// The address in a trailer: "10.0.0.1" on a socket, the GID on an HCA; "" unknown.
std::string address_text(const Trailer& trailer);
/// "NCCL 2.28.9, RoCE v2, MTU 4096, 400 Gb/s": the known parts.
std::string detail_text(const Trailer& trailer);

/// Where the ends do not fit; an error is a connection that cannot work. `device` of each finding is the own device.
std::vector<Finding> differences(const OwnEnd& own, const Trailer& peer, const std::string& peer_text);

}  // namespace topoguard::watch
