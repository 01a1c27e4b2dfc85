// SPDX-License-Identifier: Apache-2.0
// What one sample measures: fresh connections, a short batch that is not counted, then so many messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace topoguard::bench {

inline constexpr std::size_t kMostBytes = std::size_t{1} << 30;   // of a message
inline constexpr int kMostConnections = 256, kMostInFlight = 32;  // NCCL_NET_MAX_REQUESTS

enum class Traffic : std::uint8_t { ping_pong, stream };

struct Plan {
  Traffic traffic = Traffic::stream;
  std::size_t size = 0;        ///< bytes of a message
  std::uint64_t messages = 0;  ///< a stream's, over all connections; a ping-pong's round trips
  int connections = 1;         ///< of a stream; dealt over the devices in turn, as NCCL deals its channels
  int window = 8;              ///< requests in flight on a connection (NCCL_STEPS; 2.18 has room for 8)
  int device = -1;             ///< this one alone; -1 = all in turn
  std::uint64_t seed = 1;
  std::string memory = "host";  ///< memory.h
};

struct Sample {
  double seconds = 0;  ///< of the messages; making connections and checking bytes is left out
  double cpu = 0;      ///< seconds of CPU of all threads of both ends meanwhile
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;          ///< one way
  std::vector<double> round_trips;  ///< microseconds each, of a ping-pong
  double connect = 0;               ///< seconds until all connections were up
};

/// Messages of one batch: their receive buffers hold them all, so that every byte is checked and no check is measured.
std::uint64_t batch_of(const Plan& plan);

}  // namespace topoguard::bench
