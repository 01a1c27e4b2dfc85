// SPDX-License-Identifier: Apache-2.0
// The active side: tries every address pair of a plan, all at once as far as descriptors allow, and reports within the
// plan's time. Not thread-safe.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "check/loop.h"
#include "check/messages.h"

namespace topoguard::check {

class TcpProbe;
class PathMtuProbe;

class Prober {
 public:
  /// `most` pairs at once, two descriptors each. `done` is called once, out of the loop.
  Prober(Loop& loop, std::vector<Offer> own, Plan plan, std::size_t most, std::function<void(Report)> done);
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;
  ~Prober();

 private:
  struct Pair {
    Probe probe;
    const Partner* partner;
    std::unique_ptr<TcpProbe> tcp;
    std::unique_ptr<PathMtuProbe> mtu;
    int open = 0;
  };
  void add_pairs(const Partner& partner, Use use);
  void start_some();
  void one_done(Pair& pair);
  void stop();
  void finish();

  Loop& loop_;
  std::vector<Offer> own_;
  Plan plan_;
  std::size_t most_, started_ = 0, running_ = 0;
  std::deque<Pair> pairs_;  // never moved: probes hold references
  std::function<void(Report)> done_;
  Loop::Timer deadline_ = 0;
  bool stopping_ = false, finished_ = false;
};

}  // namespace topoguard::check
