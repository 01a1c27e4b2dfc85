// SPDX-License-Identifier: Apache-2.0
// Connections that NCCL polls and that are not up yet, of the whole process, and when to say so: one line for all of
// them after the limit, and again whenever the time has doubled. There is no thread: time passes by the calls that NCCL
// makes anyway.
//
// Times are seconds of any steady clock, given by the caller. Thread-safety: all members of Waiting may be called from
// any thread. A key is a pointer that NCCL polls with; it is looked up, never followed.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/record.h"
#include "watch/ends.h"

namespace topoguard::watch {

enum class PeerKnown : std::uint8_t { not_asked, nothing, other_version, trailer };

struct Waiter {
  record::Connection connection;
  Carrier carrier = Carrier::unknown;
  std::string netdev;                     ///< the interface below; "" unknown
  std::string peer_socket;                ///< sending: where the transport connects to, "10.0.0.2:41234"; "" unknown
  std::string own_socket;                 ///< receiving: where it listens; "" unknown
  PeerKnown peer = PeerKnown::not_asked;  ///< from the handle; a receiving side has none
  std::string trouble;                    ///< a difference of the two ends that is known; "" none
  std::uint64_t identity = 0;             ///< what stays the same from poll to poll; another one is another connection
  double since = 0;                       ///< first poll
  double polled = 0;                      ///< last poll
  double ask_route_again = 0;             ///< the kernel had no route at the first poll: asked once more then; 0 no
  bool told = false;                      ///< named or counted in a line
};

struct WaitLimits {
  int warn_s = 0;     ///< 0 never
  int timeout_s = 0;  ///< 0 never
};

class Waiting {
 public:
  using Key = std::pair<const void*, record::Side>;

  struct Poll {
    bool known = false;
    bool ask_route = false;
  };
  /// At each poll. Not known where this connection is not waiting yet. One whose polls stopped for a minute was given
  /// up: its memory now belongs to another one.
  Poll polled(Key key, std::uint64_t identity, double now);
  void add(Key key, Waiter waiter);
  void route_settled(Key key);

  struct Step {
    bool timed_out = false;
    std::optional<Finding> line;
  };
  /// After a poll that left it waiting.
  Step still_waiting(Key key, double now, const WaitLimits& limits);
  struct End {
    std::optional<Waiter> waiter;
    std::optional<Finding> line;  ///< where it is up and was the last one that a line had told of
  };
  /// It is up, has failed, or is ended.
  End done(Key key, bool up, double now);
  std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::map<Key, Waiter> waiters_;
  double next_line_ = 0;  ///< 0: none was said yet
  double pause_ = 0;
  int late_ = 0;        ///< told, and up since
  double longest_ = 0;  ///< of those
};

}  // namespace topoguard::watch
