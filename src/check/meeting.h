// SPDX-License-Identifier: Apache-2.0
// Rank 0's side: waits for the others, asks their clocks, tells each whom to try, and gathers the reports. Strangers,
// other jobs and other versions are turned away and disturb nothing. Not thread-safe.
#pragma once

#include <list>
#include <memory>

#include "check/channel.h"
#include "check/gathered.h"
#include "check/prober.h"

namespace topoguard::check {

/// All from one start; each is a point by which a phase ends, whoever is late.
struct Times {
  std::chrono::milliseconds join, probe, report;

  /// Half of the time to come together, a third to try, the rest to report.
  static Times of(std::chrono::milliseconds whole);
};

class Meeting {
 public:
  /// `own` is rank 0's hello, its offers with their ports.
  Meeting(Loop& loop, Socket listener, const Placement& placement, Hello own, Times times, std::size_t descriptors);
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;
  ~Meeting();

  /// Runs the loop until all is known or the time is over.
  Gathered gather();
  /// Tells everybody the exit status, and waits shortly until it is sent.
  void end(int status);

 private:
  struct Guest;
  void accept();
  void take(Guest& guest, Message& message);
  void take_hello(Guest& guest, Hello hello);
  void take_clock(Guest& guest, const ClockAnswer& answer);
  void take_report(Guest& guest, Report report);
  void lose(Guest& guest, const Ending& ending);
  void turn_away(Guest& guest, TurnedAway::Why why, const std::string& detail);
  bool all_here() const;
  void begin_probes();
  Gathered result();

  Loop& loop_;
  Socket listener_;
  Placement placement_;
  Hello own_;
  Times times_;
  std::size_t descriptors_;
  Clock::time_point start_ = Clock::now(), joined_;
  std::list<Guest> guests_;
  std::unique_ptr<Prober> prober_;
  Report own_report_;
  bool probing_ = false, own_done_ = false;
  std::vector<TurnedAway> turned_away_;
  int strangers_ = 0;
};

}  // namespace topoguard::check
