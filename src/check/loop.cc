// SPDX-License-Identifier: Apache-2.0
#include "check/loop.h"

#include <poll.h>

#include <algorithm>
#include <vector>

namespace topoguard::check {

void Loop::watch(int fd, short events, Handler handler) {
  watches_[fd] = {events, next_++, std::make_shared<Handler>(std::move(handler))};
}

void Loop::change(int fd, short events) {
  if (const auto found = watches_.find(fd); found != watches_.end()) found->second.events = events;
}

void Loop::forget(int fd) { watches_.erase(fd); }

Loop::Timer Loop::at(Clock::time_point when, std::function<void()> action) {
  times_.emplace(when, Time{next_, std::move(action)});
  return next_++;
}

void Loop::cancel(Timer timer) {
  const auto found =
      std::find_if(times_.begin(), times_.end(), [&](const auto& entry) { return entry.second.id == timer; });
  if (found != times_.end()) times_.erase(found);
}

void Loop::fire() {
  const auto now = Clock::now();
  while (!times_.empty() && times_.begin()->first <= now) {
    const auto action = std::move(times_.begin()->second.action);
    times_.erase(times_.begin());
    action();
  }
}

void Loop::wait(Clock::time_point until) {
  if (!times_.empty()) until = std::min(until, times_.begin()->first);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  std::vector<pollfd> fds;
  std::vector<std::uint64_t> ids;
  for (const auto& [fd, watch] : watches_) {
    fds.push_back({fd, watch.events, 0});
    ids.push_back(watch.id);
  }
  const int ready = ::poll(fds.data(), fds.size(), static_cast<int>(std::clamp<std::int64_t>(left, 0, 60000)));
  if (ready <= 0) return;  // EINTR: the caller looks at the time again
  for (std::size_t i = 0; i < fds.size(); ++i) {
    if (fds[i].revents == 0) continue;
    const auto found = watches_.find(fds[i].fd);
    if (found == watches_.end() || found->second.id != ids[i]) continue;
    const auto handler = found->second.handler;  // it may forget itself
    (*handler)(fds[i].revents);
  }
}

bool Loop::run(Clock::time_point deadline, const std::function<bool()>& done) {
  while (true) {
    fire();
    if (done()) return true;
    if (Clock::now() >= deadline) return false;
    wait(deadline);
  }
}

}  // namespace topoguard::check
