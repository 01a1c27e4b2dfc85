// SPDX-License-Identifier: Apache-2.0
#include "bench/half.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace topoguard::bench {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double cpu_time() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Gives the processor away between two looks: on a busy machine the other end may wait for it.
void drive(const std::vector<std::function<bool()>>& parts, const std::string& what, double patience) {
  const double end = now() + patience;
  for (std::uint64_t polls = 1;; ++polls) {
    bool done = true;
    for (const auto& part : parts) done = part() && done;
    if (done) return;
    if (polls % 1024 == 0 && now() > end)
      throw std::runtime_error(what + " did not come to an end within " + std::to_string(static_cast<int>(patience)) +
                               " s");
    ::sched_yield();
  }
}

std::uint64_t batch_of(const Plan& plan) {
  constexpr std::uint64_t kBytes = std::uint64_t{64} << 20, kMessages = 20000;
  const std::uint64_t fits = std::max<std::uint64_t>(kBytes / std::max<std::size_t>(plan.size, 1), 2);
  return std::min({plan.messages, fits, kMessages});
}

Lane::Lane(std::unique_ptr<Connection> connection, const Plan& plan, std::uint64_t number, bool sends)
    : connection_(std::move(connection)),
      plan_(plan),
      number_(number),
      sends_(sends),
      pattern_(plan.seed, number, plan.size) {
  const std::uint64_t share = batch_of(plan) / static_cast<std::uint64_t>(plan.connections) + 1;
  const std::size_t size = sends ? pattern_.bytes().size() : plan.size * share;
  memory_ = allocate(plan.memory, size);
  if (sends) memory_->put(0, pattern_.bytes().data(), size);
  registered_ = connection_->remember(memory_->data(), size, memory_->type());
}

Lane::~Lane() { connection_->forget(registered_); }

void* Lane::start_one() {
  const std::size_t at = sends_ ? Pattern::offset_of(started_) : (started_ - checked_) * plan_.size;
  void* request = connection_->start(memory_->data() + at, plan_.size, registered_);
  if (request != nullptr) ++started_;
  return request;
}

bool Lane::finish(void* request) {
  const auto moved = connection_->finished(request);
  if (!moved) return false;
  if (*moved != plan_.size)
    throw std::runtime_error("connection " + std::to_string(number_) + ": " + std::to_string(*moved) +
                             " bytes moved of " + std::to_string(plan_.size));
  ++done_;
  return true;
}

void Lane::begin(std::uint64_t messages) { left_ = messages; }

bool Lane::progress() {
  while (!in_flight_.empty() && finish(in_flight_.front())) in_flight_.pop_front();
  while (left_ > 0 && in_flight_.size() < static_cast<std::size_t>(plan_.window)) {
    void* request = start_one();
    if (request == nullptr) break;
    in_flight_.push_back(request);
    --left_;
  }
  return left_ == 0 && in_flight_.empty();
}

void Lane::check() {
  if (sends_) {
    checked_ = done_;
    return;
  }
  const bool host = memory_->type() == TGNCCL_PTR_HOST;
  std::vector<char> copy(host ? 0 : plan_.size);
  for (std::uint64_t first = checked_; checked_ < done_; ++checked_) {
    const std::size_t at = (checked_ - first) * plan_.size;
    if (!host) memory_->get(at, copy.data(), plan_.size);
    const char* seen = host ? memory_->data() + at : copy.data();
    if (const auto wrong = pattern_.wrong_byte(checked_, seen, plan_.size))
      throw std::runtime_error("connection " + std::to_string(number_) + ", message " + std::to_string(checked_) +
                               ": wrong byte at " + std::to_string(*wrong) + " of " + std::to_string(plan_.size));
  }
}

Half::Half(Net& net, const Plan& plan, Role role) : net_(net), plan_(plan), role_(role) {
  const bool back_and_forth = plan.traffic == Traffic::ping_pong;
  const int count = back_and_forth ? 2 : plan.connections;
  for (int i = 0; i < count; ++i) {
    Opening opening;
    opening.number = static_cast<std::uint64_t>(i);
    opening.sends = (role == Role::initiator) != (back_and_forth && i == 1);
    if (!opening.sends) listeners_.push_back(net_.listen(device_of(back_and_forth ? 0 : i)));
    lanes_.push_back(std::move(opening));
  }
}

int Half::device_of(int connection) const {
  const int devices = static_cast<int>(net_.devices().size());
  if (plan_.device >= devices)
    throw std::runtime_error("there is no device " + std::to_string(plan_.device) + ", only " +
                             std::to_string(devices));
  const int device = plan_.device >= 0 ? plan_.device : connection % devices;
  if (plan_.memory != "host" && !net_.devices()[static_cast<std::size_t>(device)].takes_cuda)
    throw std::runtime_error(net_.devices()[static_cast<std::size_t>(device)].name +
                             " takes no CUDA memory: NCCL would copy through host memory, which is what to measure");
  return device;
}

std::vector<Handle> Half::handles() const {
  std::vector<Handle> out;
  for (const auto& listener : listeners_) out.push_back(listener->handle());
  return out;
}

void Half::connect(const std::vector<Handle>& others) {
  std::size_t next = 0, listener = 0;
  for (Opening& opening : lanes_) {
    if (!opening.sends) {
      opening.pending = std::move(listeners_.at(listener++));
      continue;
    }
    if (next == others.size()) throw std::runtime_error("the other end sent too few handles");
    const int connection = plan_.traffic == Traffic::ping_pong ? 0 : static_cast<int>(opening.number);
    opening.pending = net_.connect(device_of(connection), others[next++]);
  }
  listeners_.clear();
}

bool Half::connected() {
  bool all = true;
  for (Opening& opening : lanes_) {
    if (opening.lane != nullptr) continue;
    if (auto connection = opening.pending->poll()) {
      opening.lane = std::make_unique<Lane>(std::move(connection), plan_, opening.number, opening.sends);
      opening.pending.reset();
    } else {
      all = false;
    }
  }
  return all;
}

void Half::begin(std::uint64_t messages) {
  if (plan_.traffic == Traffic::ping_pong) {
    round_trips_left_ = messages;
    turn_ = role_ == Role::initiator;
    return;
  }
  const auto count = static_cast<std::uint64_t>(plan_.connections);
  for (Opening& opening : lanes_) opening.lane->begin(messages / count + (opening.number < messages % count ? 1 : 0));
}

bool Half::progress() {
  if (plan_.traffic == Traffic::ping_pong) return play();
  bool done = true;
  for (Opening& opening : lanes_) done = opening.lane->progress() && done;
  return done;
}

// The receive is posted before the message that will be answered is sent, as NCCL's proxies do it.
bool Half::play() {
  if (round_trips_left_ == 0) return true;
  const bool first = role_ == Role::initiator;
  Lane& there = *lanes_[first ? 0 : 1].lane;
  Lane& back = *lanes_[first ? 1 : 0].lane;
  // The answer to the last message is followed by none.
  const bool more_to_come = first || !turn_ || round_trips_left_ > 1;
  if (receiving_ == nullptr && more_to_come && (receiving_ = back.start_one()) == nullptr) return false;
  if (turn_) {
    if (sending_ == nullptr) {
      if (first) began_ = now();
      if ((sending_ = there.start_one()) == nullptr) return false;
    }
    if (!there.finish(sending_)) return false;
    sending_ = nullptr;
    turn_ = false;
    if (!first && --round_trips_left_ == 0) return true;
  }
  if (receiving_ == nullptr || !back.finish(receiving_)) return false;
  receiving_ = nullptr;
  turn_ = true;
  if (first) {
    times_.push_back((now() - began_) * 1e6);
    return --round_trips_left_ == 0;
  }
  return false;
}

void Half::check() {
  for (Opening& opening : lanes_) opening.lane->check();
}

}  // namespace topoguard::bench
