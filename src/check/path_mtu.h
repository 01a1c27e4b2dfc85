// SPDX-License-Identifier: Apache-2.0
// How large a packet gets from this address to that one without being cut: UDP with don't-fragment, of the interface's
// own size first; where that does not arrive, a search down to the byte. Not thread-safe.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "check/loop.h"
#include "check/messages.h"
#include "check/net.h"

namespace topoguard::check {

class PathMtuProbe {
 public:
  /// Begins at once; `done` is called once, at the latest by stop(). `probe` receives the outcome and outlives this.
  PathMtuProbe(Loop& loop, const Offer& from, const Offer& to, std::string key, Probe& probe,
               std::function<void()> done);
  PathMtuProbe(const PathMtuProbe&) = delete;
  PathMtuProbe& operator=(const PathMtuProbe&) = delete;
  ~PathMtuProbe();

  /// Out of time: reports what is known.
  void stop();

 private:
  void send_all();
  void tick();
  void next_round();
  void receive();
  void drain_errors();
  void finish();

  Loop& loop_;
  Probe& probe_;
  std::function<void()> done_;
  std::string key_;
  Socket socket_;
  int headers_;         // IP and UDP
  int low_ = 0, high_;  // IP packet sizes: the largest that arrived, the smallest that did not
  std::set<int> trying_;
  int hint_ = 0;  // what a router said
  std::optional<IpAddress> told_by_;
  int sent_ = 0;  // times in this round
  bool first_ = true, finished_ = false;
  Loop::Timer timer_ = 0;
};

/// Sizes strictly between low and high that a round tries, at most 16, with `hint` among them where it lies there.
std::set<int> sizes_between(int low, int high, int hint);

}  // namespace topoguard::check
