// SPDX-License-Identifier: Apache-2.0
// The few socket calls that a check needs: every socket is non-blocking and close-on-exec. Errors are errno values.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>

#include "host/file.h"
#include "topoguard/address.h"

namespace topoguard::check {

using host::Fd;

/// An address with its port; `scope` is the interface's index, which link-local IPv6 needs.
struct Target {
  IpAddress address;
  std::uint16_t port = 0;
  int scope = 0;

  std::string text() const;  ///< "10.0.0.1:29511", "[fd00::1]:29511"
};

struct Socket {
  Fd fd;
  int error = 0;  ///< where fd is empty
  std::uint16_t port = 0;
};

/// `device`: the socket sends and receives by this interface alone, where the kernel lets us (before Linux 5.7 that
/// needs CAP_NET_RAW; without it the routes decide). "" = whatever the routes say.
Socket listen_tcp(const Target& on, const std::string& device);
/// Of every address of this host, both families where it has both.
Socket listen_everywhere(std::uint16_t port);
Socket bind_udp(const Target& on, const std::string& device);
/// Begins to connect; writable once it is decided, then connect_result() tells. `from` may be null.
Socket connect_tcp(const IpAddress* from, const std::string& device, const Target& to);
int connect_result(int fd);  ///< 0, or the errno
Socket accept_one(int listener, Target* from);

int connect_udp(int fd, const Target& to);
/// Datagrams with don't-fragment set, up to the interface's own MTU whatever the kernel has learnt of the way
/// (IP_PMTUDISC_PROBE, IPV6_PMTUDISC_PROBE: ip(7), ipv6(7)), and errors kept in the queue.
bool probe_without_fragments(int fd, Family family);
/// One error from the queue: ICMP's, with who sent it.
struct QueuedError {
  int error = 0;
  int mtu = 0;  ///< where error is EMSGSIZE
  std::optional<IpAddress> sender;
};
std::optional<QueuedError> next_error(int fd);

/// The address that the kernel would send from to there; no packet is sent.
std::optional<IpAddress> usual_source(const Target& to);
/// Lets this process open as many descriptors as it may. Returns how many those are.
int raise_descriptor_limit();

}  // namespace topoguard::check
