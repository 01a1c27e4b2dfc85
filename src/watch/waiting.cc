// SPDX-License-Identifier: Apache-2.0
#include "watch/waiting.h"

#include <algorithm>

#include "watch/waiting_text.h"

namespace topoguard::watch {
namespace {

// NCCL polls thousands of times a second; a loaded machine may let a thread rest for seconds.
constexpr double kStopped = 15, kGivenUp = 60;

}  // namespace

Waiting::Poll Waiting::polled(Key key, std::uint64_t identity, double now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = waiters_.find(key);
  if (found == waiters_.end()) return {};
  Waiter& waiter = found->second;
  if (waiter.identity != identity || now - waiter.polled > kGivenUp) {
    waiters_.erase(found);
    return {};
  }
  waiter.polled = now;
  return {true, waiter.ask_route_again > 0 && now >= waiter.ask_route_again};
}

void Waiting::add(Key key, Waiter waiter) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto it = waiters_.begin(); it != waiters_.end();)
    it = waiter.since - it->second.polled > kGivenUp ? waiters_.erase(it) : std::next(it);
  waiters_.insert_or_assign(key, std::move(waiter));
}

void Waiting::route_settled(Key key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = waiters_.find(key);
  if (found != waiters_.end()) found->second.ask_route_again = 0;
}

Waiting::Step Waiting::still_waiting(Key key, double now, const WaitLimits& limits) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Step step;
  const auto found = waiters_.find(key);
  if (found == waiters_.end()) return step;
  const double waited = now - found->second.since;
  step.timed_out = limits.timeout_s > 0 && waited >= limits.timeout_s;
  if (limits.warn_s <= 0 || waited < limits.warn_s || now < next_line_) return step;

  std::vector<Waiter*> active;
  for (auto& entry : waiters_)
    if (now - entry.second.polled < kStopped) active.push_back(&entry.second);
  // A new trouble after an old one is over: the pauses start anew.
  if (std::none_of(active.begin(), active.end(), [](const Waiter* waiter) { return waiter->told; })) pause_ = 0;
  std::sort(active.begin(), active.end(), [](const Waiter* a, const Waiter* b) { return a->since < b->since; });
  step.line = waiting_finding({active.begin(), active.end()}, now);
  for (Waiter* waiter : active) waiter->told = true;
  pause_ = pause_ > 0 ? 2 * pause_ : std::max(waited, double(limits.warn_s));
  next_line_ = now + pause_;
  return step;
}

Waiting::End Waiting::done(Key key, bool up, double now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  End end;
  const auto found = waiters_.find(key);
  if (found == waiters_.end()) return end;
  end.waiter = std::move(found->second);
  waiters_.erase(found);
  if (!end.waiter->told) return end;
  if (up) {
    ++late_;
    longest_ = std::max(longest_, now - end.waiter->since);
  }
  for (const auto& entry : waiters_)
    if (entry.second.told && now - entry.second.polled < kStopped) return end;
  next_line_ = pause_ = 0;
  if (late_ > 0) end.line = late_finding(late_, longest_);
  late_ = 0;
  longest_ = 0;
  return end;
}

std::size_t Waiting::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return waiters_.size();
}

}  // namespace topoguard::watch
