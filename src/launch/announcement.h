// SPDX-License-Identifier: Apache-2.0
// What rank 0 announces to the others, and whether this host can get there. Said before NCCL waits, because NCCL itself
// only waits: a rank that connects to its own bridge or loopback hangs for minutes without a word.
// Source: ncclUniqueId is a ncclBootstrapHandle, an 8-byte magic and a socket address (bootstrap.h, NCCL 2.18 to 2.30).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "topoguard/decision.h"
#include "topoguard/snapshot.h"

namespace topoguard {

struct Announcement {
  IpAddress address;
  int port = 0;
  unsigned scope_id = 0;  ///< of a link-local IPv6 address: the announcing host's ifindex
};

/// From the first `size` bytes of an ncclUniqueId; nullopt where they hold no socket address. Pure.
std::optional<Announcement> read_announcement(const void* id, std::size_t size);

struct AnnouncementFacts {
  int rank = -1;                     ///< of this process
  int ranks = 0;                     ///< of the communicator
  std::optional<int> local_ranks;    ///< of them on this host
  std::optional<bool> listens_here;  ///< a socket listens on that address and port in this network namespace
  int route_error = 0;               ///< errno of the kernel's route lookup to it; 0 = there is a route
};

/// A finding of code rank0-loopback, rank0-own-address or rank0-unreachable; nullopt where nothing is wrong, or nothing
/// can be told. Pure.
std::optional<Finding> judge(const Announcement& announcement, const AnnouncementFacts& facts,
                             const HostSnapshot& host);

/// Does a TCP socket of this network namespace listen there? From /proc/net/tcp and tcp6; nullopt where unreadable.
std::optional<bool> listens_here(const Announcement& announcement, const std::string& proc = "/proc");

/// 0, or why the kernel knows no way: ENETUNREACH, EHOSTUNREACH, ... Nothing is sent.
int route_error(const Announcement& announcement);

}  // namespace topoguard
