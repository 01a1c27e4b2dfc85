// SPDX-License-Identifier: Apache-2.0
#include "watch/transfers.h"

#include <algorithm>

namespace topoguard::watch {

void Transfers::start() {
  static auto* transfers = new Transfers;
  on_.store(transfers, std::memory_order_release);
}

void Transfers::open(const void* comm) noexcept {
  close(comm);
  for (std::size_t i = 0, at = hash(comm); i < kProbes; ++i, ++at) {
    Counted& counted = connections_[at % kConnections];
    const void* free = nullptr;
    if (!counted.comm.compare_exchange_strong(free, comm)) continue;
    counted.operations.store(0, kRelaxed);
    counted.bytes.store(0, kRelaxed);
    return;
  }
}

std::optional<Transfers::Sum> Transfers::close(const void* comm) noexcept {
  Counted* counted = find(comm);
  if (counted == nullptr) return std::nullopt;
  const Sum sum{counted->operations.load(kRelaxed), counted->bytes.load(kRelaxed)};
  // NCCL closes with requests in flight when it aborts: they are nobody's now.
  for (Flight& slot : in_flight_)
    if (slot.of.load(kRelaxed) == counted) slot.request.store(nullptr, kRelaxed);
  counted->comm.store(nullptr, std::memory_order_release);
  return sum;
}

std::vector<Transfers::Stalled> Transfers::look(const void* request, double now, double limit) {
  std::vector<Stalled> stalled;
  Flight& asked = slot_of(request);
  if (asked.request.load(kRelaxed) != request) return stalled;
  const double since = asked.since.load(kRelaxed);
  if (since <= 0) {
    asked.since.store(now, kRelaxed);
    return stalled;
  }
  if (now - since < limit) return stalled;
  for (Flight& slot : in_flight_) {
    const double began = slot.since.load(kRelaxed);
    const Counted* of = slot.of.load(kRelaxed);
    if (slot.request.load(kRelaxed) == nullptr || began <= 0 || now - began < limit || of == nullptr) continue;
    const void* comm = of->comm.load(kRelaxed);
    auto entry = std::find_if(stalled.begin(), stalled.end(), [&](const Stalled& s) { return s.comm == comm; });
    if (entry == stalled.end()) entry = stalled.insert(stalled.end(), {comm, 0, 0});
    ++entry->requests;
    entry->longest = std::max(entry->longest, now - began);
  }
  std::sort(stalled.begin(), stalled.end(), [](const Stalled& a, const Stalled& b) { return a.longest > b.longest; });
  return stalled;
}

bool Transfers::due(double now, double limit) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (now < next_line_) return false;
  // Long after the last line it is another trouble.
  pause_ = pause_ > 0 && now < next_line_ + pause_ ? 2 * pause_ : limit;
  next_line_ = now + pause_;
  return true;
}

}  // namespace topoguard::watch
