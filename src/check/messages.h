// SPDX-License-Identifier: Apache-2.0
// What the processes of a check tell each other, as JSON. Nothing in a message is believed before it is proven to be
// of the right type, in range, short enough and free of control characters; whatever is not is refused as a whole.
// Reading throws nothing. Addresses in a message are tried, never executed, logged into or resolved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "check/offer.h"
#include "compare/digest.h"

namespace topoguard::check {

inline constexpr std::size_t kHelloLimit = std::size_t{256} << 10;  ///< bytes; a usual one has 2 KiB
inline constexpr std::size_t kPlanLimit = std::size_t{1} << 20;     ///< and every later message
inline constexpr std::size_t kMostOffers = 64;
inline constexpr std::size_t kKeyText = 32;  ///< hexadecimal digits of a key

/// Every process to rank 0, first.
struct Hello {
  std::string job;
  int rank = 0, ranks = 1, stands_for = 1;
  std::string machine;  ///< equal in two processes of one host and network namespace
  std::string host, topoguard;
  std::string key;  ///< kKeyText digits, random: who shows it may use this process's probe ports
  std::vector<Offer> offers;
  HostDigest digest;
};

/// Rank 0 asks for the time; the other answers at once.
struct ClockQuestion {};
struct ClockAnswer {
  std::int64_t unix_ns = 0;
};

/// Rank 0 to each: whom to try, and for how long.
struct Partner {
  int rank = 0;
  std::string host, key;
  std::vector<Offer> offers;
};
struct Plan {
  int budget_ms = 0;
  std::vector<Partner> partners;
};

enum class Reach : std::uint8_t {
  ok,
  refused,       ///< a packet came back: nobody listens, or a firewall that answers
  silent,        ///< no answer in time
  unreachable,   ///< a router or the kernel says that there is no way
  stalled,       ///< connected, and then the data did not arrive
  broken,        ///< connected, and closed by the other side or something between
  other_family,  ///< IPv4 here and IPv6 there
  not_tried,
};
std::string_view reach_name(Reach reach);

enum class MtuState : std::uint8_t {
  full,        ///< the interfaces' own size gets through
  told,        ///< smaller, and a router says so
  black_hole,  ///< larger packets vanish without a word
  unknown,     ///< not even small ones were answered
};
std::string_view mtu_state_name(MtuState state);

/// How one address of the sender reached one of a partner.
struct Probe {
  int partner = 0;       ///< rank
  int from = 0, to = 0;  ///< positions in the offers of both
  Reach tcp = Reach::not_tried;
  int error = 0;  ///< errno where tcp is not ok
  std::int64_t connect_us = 0;
  MtuState mtu_state = MtuState::unknown;
  int mtu = 0;                            ///< largest IP packet that arrived, bytes
  int mtu_wanted = 0;                     ///< the smaller of both interfaces' MTUs
  std::optional<IpAddress> told_by;       ///< the router that said so
  std::optional<IpAddress> usual_source;  ///< what the kernel would send from, where that is another address
};

struct Report {
  std::vector<Probe> probes;
};

/// Rank 0 to each, last: the exit status of all.
struct End {
  int status = 0;
};
/// Rank 0 to one that it cannot take.
struct Refusal {
  std::string reason;
};

using Message = std::variant<Hello, ClockQuestion, ClockAnswer, Plan, Report, End, Refusal>;

std::string write_message(const Message& message);

struct ReadMessage {
  std::optional<Message> message;
  std::string error;  ///< one printable line: where, what was expected, what was found
};
ReadMessage read_message(std::string_view text, std::size_t limit);

}  // namespace topoguard::check
