// SPDX-License-Identifier: Apache-2.0
// Does a connection from this address to that one come up, and does data pass? Not thread-safe.
#pragma once

#include <functional>
#include <string>

#include "check/loop.h"
#include "check/messages.h"
#include "check/net.h"

namespace topoguard::check {

class TcpProbe {
 public:
  /// Begins at once; `done` is called once, at the latest by stop(). `probe` receives the outcome and outlives this.
  TcpProbe(Loop& loop, const Offer& from, const Offer& to, const std::string& key, Probe& probe,
           std::function<void()> done);
  TcpProbe(const TcpProbe&) = delete;
  TcpProbe& operator=(const TcpProbe&) = delete;
  ~TcpProbe();

  /// Out of time: what has not answered is silent or stalled.
  void stop();

 private:
  void handle(short events);
  void connected();
  void send();
  void finish(Reach reach, int error);

  Loop& loop_;
  Probe& probe_;
  std::function<void()> done_;
  Clock::time_point start_ = Clock::now();
  Socket socket_;
  std::string out_, in_;
  bool connected_ = false, finished_ = false;
};

}  // namespace topoguard::check
