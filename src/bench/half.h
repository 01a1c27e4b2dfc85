// SPDX-License-Identifier: Apache-2.0
// One end's half of a sample: its connections, its buffers, its part of a batch. Everything is polled, so that one
// thread can drive both ends. Errors are std::runtime_error. Not thread-safe.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/memory.h"
#include "bench/net.h"
#include "bench/pattern.h"
#include "bench/plan.h"

namespace topoguard::bench {

/// A direction of a connection with the memory that its messages lie in.
class Lane {
 public:
  Lane(std::unique_ptr<Connection> connection, const Plan& plan, std::uint64_t number, bool sends);
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// Messages that follow each other, with the plan's window.
  void begin(std::uint64_t messages);
  bool progress();  ///< true: all of them are done

  /// The next one alone. Null: not now.
  void* start_one();
  bool finish(void* request);

  /// After a batch: throws where a byte that this end received is not what was sent.
  void check();

 private:
  std::unique_ptr<Connection> connection_;
  const Plan& plan_;
  std::uint64_t number_;  // of the connection
  bool sends_;
  Pattern pattern_;
  std::unique_ptr<Memory> memory_;
  void* registered_ = nullptr;
  std::deque<void*> in_flight_;
  std::uint64_t started_ = 0, left_ = 0, checked_ = 0, done_ = 0;
};

/// The initiator sends streams and makes the first move of a ping-pong.
enum class Role : std::uint8_t { initiator, responder };

class Half {
 public:
  Half(Net& net, const Plan& plan, Role role);
  Half(const Half&) = delete;
  Half& operator=(const Half&) = delete;

  std::vector<Handle> handles() const;                   ///< of this end's listeners, for the other one
  void connect(const std::vector<Handle>& others);       ///< begins to
  bool connected();                                      ///< polls
  void begin(std::uint64_t messages);                    ///< a batch
  bool progress();                                       ///< true: this end's part of it is done
  void check();                                          ///< its bytes
  std::vector<double>& round_trips() { return times_; }  ///< the initiator's, microseconds

 private:
  int device_of(int connection) const;
  bool play();
  struct Opening {
    std::unique_ptr<Pending> pending;
    std::unique_ptr<Lane> lane;
    std::uint64_t number = 0;
    bool sends = false;
  };

  Net& net_;
  const Plan plan_;
  const Role role_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<Opening> lanes_;  // of a stream all one way; of a ping-pong there, then back
  std::uint64_t round_trips_left_ = 0;
  void* receiving_ = nullptr;
  void* sending_ = nullptr;
  bool turn_ = false;  // this end has something to send
  double began_ = 0;
  std::vector<double> times_;
};

double now();       ///< seconds, steady
double cpu_time();  ///< seconds of all threads of this process

/// Polls until all are true. Throws where that takes longer than `patience` seconds.
void drive(const std::vector<std::function<bool()>>& parts, const std::string& what, double patience);

}  // namespace topoguard::bench
