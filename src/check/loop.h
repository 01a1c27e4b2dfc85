// SPDX-License-Identifier: Apache-2.0
// One thread that waits for many descriptors and times with poll(2). Handlers may watch, forget and set times
// themselves. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

namespace topoguard::check {

using Clock = std::chrono::steady_clock;

class Loop {
 public:
  using Handler = std::function<void(short events)>;  ///< what poll(2) saw: POLLIN, POLLOUT, POLLERR, POLLHUP

  /// Replaces what was watched for that descriptor. Events 0: errors only.
  void watch(int fd, short events, Handler handler);
  void change(int fd, short events);
  /// Before the descriptor is closed.
  void forget(int fd);

  using Timer = std::uint64_t;
  Timer at(Clock::time_point when, std::function<void()> action);  ///< once
  void cancel(Timer timer);

  /// Until done() or the deadline. True where done.
  bool run(Clock::time_point deadline, const std::function<bool()>& done);

 private:
  struct Watch {
    short events;
    std::uint64_t id;  // the same descriptor number may be watched anew while a round is handled
    std::shared_ptr<Handler> handler;
  };
  struct Time {
    Timer id;
    std::function<void()> action;
  };
  void wait(Clock::time_point until);
  void fire();

  std::map<int, Watch> watches_;
  std::multimap<Clock::time_point, Time> times_;
  std::uint64_t next_ = 1;
};

}  // namespace topoguard::check
