// SPDX-License-Identifier: Apache-2.0
// Many samples, and what they say: of one net, or of two in turn with the first one twice, so that the difference
// between a thing and itself is seen beside the difference between two things.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/plan.h"
#include "bench/runner.h"
#include "bench/statistics.h"

namespace topoguard::bench {

struct Request {
  std::vector<std::size_t> sizes;
  bool ping_pong = true, stream = true;
  bool compare = false;                           ///< nets 0 and 1, in turn
  int rounds = 10;                                ///< each with fresh connections
  std::uint64_t bytes = std::uint64_t{64} << 20;  ///< of a stream's sample
  std::uint64_t round_trips = 1000;               ///< of a ping-pong's sample; fewer for large messages
  Plan plan;                                      ///< what is the same in all
};

/// What was measured of one net.
struct Measure {
  Spread latency;                   ///< microseconds: the medians of the samples' round trips
  std::vector<double> round_trips;  ///< microseconds: 50, 90, 99, 99.9 and 100% of all round trips
  Spread bandwidth;                 ///< bytes/s, one way
  double rate = 0;                  ///< messages/s, median
  double cpu_per_byte = 0;          ///< nanoseconds of CPU of both ends, polling included; median
  double connect = 0;               ///< milliseconds until the sample's connections were up; median
};

struct Row {
  Traffic traffic = Traffic::stream;
  std::size_t size = 0;
  Measure a;
  std::optional<Measure> b;
  Spread ratio;    ///< time with B / time with A, pairwise in each round
  Spread control;  ///< the same of A and A again
  /// The ratio's median lies between 10% and 90% of the control's.
  bool within_control() const { return ratio.median >= control.low && ratio.median <= control.high; }
};

/// `progress` is told what is being done, before each round.
std::vector<Row> measure(Runner& runner, const Request& request,
                         const std::function<void(const std::string&)>& progress);

/// "8 B", "64 KiB", "4 MiB"
std::string size_text(std::size_t size);
/// "8", "64K", "4M", "1G" (powers of 1024). nullopt for anything else and beyond kMostBytes.
std::optional<std::size_t> parse_size(const std::string& text);

}  // namespace topoguard::bench
