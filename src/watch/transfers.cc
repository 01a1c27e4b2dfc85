// SPDX-License-Identifier: Apache-2.0
#include "watch/transfers.h"

#include <algorithm>
#include <type_traits>

namespace topoguard::watch {
namespace {

// Allocators align to 16, and a connection is a large block.
std::size_t hash(const void* pointer) noexcept {
  const auto value = reinterpret_cast<std::uintptr_t>(pointer);
  return static_cast<std::size_t>((value >> 4) ^ (value >> 16));
}

}  // namespace

constinit std::array<Transfers::Slot, Transfers::kSlots> Transfers::slots_;
constinit std::array<Transfers::Looks, Transfers::kSlots> Transfers::looks_;
constinit std::array<Transfers::Connection, Transfers::kConnections> Transfers::connections_;

void Transfers::start() {
  static_assert(std::is_trivially_destructible_v<Slot> && sizeof(Slot) == 64);
  static auto* transfers = new Transfers;
  on_.store(transfers, std::memory_order_release);
}

Transfers::Connection* Transfers::find(const void* comm) noexcept {
  for (std::size_t i = 0, at = hash(comm); i < kProbes; ++i, ++at)
    if (connections_[at % kConnections].comm.load(kRelaxed) == comm) return &connections_[at % kConnections];
  return nullptr;
}

void Transfers::open(const void* comm) noexcept {
  close(comm);
  for (std::size_t i = 0, at = hash(comm); i < kProbes; ++i, ++at) {
    const void* free = nullptr;
    if (connections_[at % kConnections].comm.compare_exchange_strong(free, comm)) return;
  }
}

std::optional<Transfers::Sum> Transfers::close(const void* comm) noexcept {
  Connection* connection = find(comm);
  if (connection == nullptr) return std::nullopt;
  Sum sum;
  for (std::uint32_t at = connection->first; at != 0;) {
    Slot& slot = slots_[at - 1];
    sum.operations += slot.started - slot.flushes;
    sum.bytes += slot.bytes;
    looks_[at - 1].since.store(0, kRelaxed);
    at = slot.next;
    slot.comm.store(nullptr, kRelaxed);
    slot.request.store(nullptr, std::memory_order_release);
  }
  connection->first = 0;
  connection->comm.store(nullptr, std::memory_order_release);
  return sum;
}

Transfers::Slot* Transfers::slot_of(const void* request) noexcept {
  const std::size_t at = place_of(request) / sizeof(Slot);
  for (std::size_t i = 0; request != nullptr && i < kProbes; ++i)
    if (Slot& slot = slots_[(at + i) % kSlots]; slot.request.load(kRelaxed) == request) return &slot;
  return nullptr;
}

Transfers::Slot* Transfers::claim(const void* comm, const void* request) noexcept {
  if (Slot* known = slot_of(request)) return known;
  Connection* connection = find(comm);
  if (connection == nullptr) return nullptr;
  for (std::size_t i = 0, at = place_of(request) / sizeof(Slot); i < kProbes; ++i, ++at) {
    Slot& slot = slots_[at % kSlots];
    const void* free = nullptr;
    if (!slot.request.compare_exchange_strong(free, request)) continue;
    slot.started = slot.bytes = slot.flushes = 0;
    slot.pieces = 0;
    slot.to_look = kLookEvery;
    looks_[at % kSlots].started = 0;
    slot.next = connection->first;
    connection->first = static_cast<std::uint32_t>(at % kSlots + 1);
    slot.comm.store(comm, kRelaxed);
    return &slot;
  }
  return nullptr;
}

void Transfers::first_sent(const void* comm, const void* request, std::uint64_t bytes) noexcept {
  Slot* slot = claim(comm, request);
  if (slot == nullptr) return;
  slot->bytes += bytes;
  ++slot->started;
}

void Transfers::first_receiving(const void* comm, const void* request, int pieces) noexcept {
  Slot* slot = claim(comm, request);
  if (slot == nullptr) return;
  slot->pieces = pieces;
  ++slot->started;
}

void Transfers::first_flushing(const void* comm, const void* request) noexcept {
  Slot* slot = claim(comm, request);
  if (slot == nullptr) return;
  slot->pieces = 0;
  ++slot->started;
  ++slot->flushes;
}

std::vector<Transfers::Stalled> Transfers::look(Slot& asked, double now, double limit) {
  std::vector<Stalled> stalled;
  asked.to_look = kLookEvery;
  Looks& looks = looks_[static_cast<std::size_t>(&asked - slots_.data())];
  looks.last.store(now, kRelaxed);
  if (looks.started != asked.started || looks.since.load(kRelaxed) <= 0) {
    looks.started = asked.started;
    looks.since.store(now, kRelaxed);
    return stalled;
  }
  if (now - looks.since.load(kRelaxed) < limit) return stalled;
  for (std::size_t at = 0; at < kSlots; ++at) {
    const double began = looks_[at].since.load(kRelaxed);
    if (began <= 0 || now - began < limit) continue;
    const void* comm = slots_[at].comm.load(kRelaxed);
    // Not looked at for so long, it is done: NCCL polls all that are in flight.
    if (comm == nullptr || now - looks_[at].last.load(kRelaxed) > limit / 2) continue;
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
