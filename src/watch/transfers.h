// SPDX-License-Identifier: Apache-2.0
// Requests in flight and what went through each connection, where TOPOGUARD_STALL_WARN_S is set; else nothing calls
// this. The data path's part is a few instructions and takes no lock, allocates nothing and reads no clock.
//
// Thread-safety: all functions may be called from any thread; NCCL calls isend, irecv and test of one connection from
// one thread at a time (2.18 to 2.30, proxy progress thread). Both tables are of fixed size: where they are full, or
// two requests meet in one place, the older one is not watched; nothing else depends on it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace topoguard::watch {

class Transfers {
 public:
  struct Sum {
    std::uint64_t operations = 0, bytes = 0;
  };

  /// Of the process: null until start(), then for ever.
  static Transfers* on() noexcept { return on_.load(std::memory_order_acquire); }
  static void start();

  /// A connection came up: its transfers are counted from now on.
  void open(const void* comm) noexcept;
  /// What went through it; nullopt where it was not counted.
  std::optional<Sum> close(const void* comm) noexcept;

  /// isend and irecv, where they made a request. A receive's bytes are known when it is finished.
  void started(const void* comm, const void* request, std::uint64_t bytes, int pieces_to_come) noexcept {
    Counted* counted = find(comm);
    if (counted == nullptr) return;
    add(counted->operations, 1);
    add(counted->bytes, bytes);
    Flight& slot = slot_of(request);
    slot.request.store(request, kRelaxed);
    slot.of.store(counted, kRelaxed);
    slot.pieces.store(pieces_to_come, kRelaxed);
    slot.polls.store(0, kRelaxed);
    slot.since.store(0, kRelaxed);
  }

  /// test, where the request is not done. True once in a while: then look() is due.
  bool unfinished(const void* request) noexcept {
    Flight& slot = slot_of(request);
    const std::uint32_t polls = slot.polls.load(kRelaxed) + 1;
    slot.polls.store(polls, kRelaxed);
    return (polls & kLookEvery) == 0;
  }

  /// test, where it is done. `sizes` as NCCL passed it; may be null.
  void finished(const void* request, const int* sizes) noexcept {
    Flight& slot = slot_of(request);
    if (slot.request.load(kRelaxed) != request) return;
    slot.request.store(nullptr, kRelaxed);
    Counted* counted = slot.of.load(kRelaxed);
    const int pieces = slot.pieces.load(kRelaxed);
    for (int i = 0; sizes != nullptr && i < pieces; ++i)
      if (sizes[i] > 0) add(counted->bytes, static_cast<std::uint64_t>(sizes[i]));
  }

  struct Stalled {
    const void* comm = nullptr;
    int requests = 0;
    double longest = 0;  ///< seconds since its first unsuccessful look
  };
  /// The clock's part, for one request. Where that one is in flight for `limit` seconds: all that are, by connection.
  std::vector<Stalled> look(const void* request, double now, double limit);
  /// Whether a line about that is due: at the first, and whenever the time has doubled.
  bool due(double now, double limit);

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;
  static constexpr std::uint32_t kLookEvery = 1023;  // a mask
  static constexpr std::size_t kRequests = 4096, kConnections = 4096, kProbes = 8;

  struct Counted {
    std::atomic<const void*> comm{nullptr};
    std::atomic<std::uint64_t> operations{0}, bytes{0};
  };
  struct Flight {
    std::atomic<const void*> request{nullptr};
    std::atomic<Counted*> of{nullptr};
    std::atomic<std::uint32_t> polls{0};
    std::atomic<int> pieces{0};
    std::atomic<double> since{0};
  };

  // Allocators align to 16 and requests lie in arrays of a few hundred bytes each.
  static std::size_t hash(const void* pointer) noexcept {
    const auto value = reinterpret_cast<std::uintptr_t>(pointer);
    return static_cast<std::size_t>((value >> 4) ^ (value >> 16));
  }
  Flight& slot_of(const void* request) noexcept { return in_flight_[hash(request) % kRequests]; }
  Counted* find(const void* comm) noexcept {
    for (std::size_t i = 0, at = hash(comm); i < kProbes; ++i, ++at)
      if (connections_[at % kConnections].comm.load(kRelaxed) == comm) return &connections_[at % kConnections];
    return nullptr;
  }
  // One thread at a time writes a connection's counters: no locked instruction.
  static void add(std::atomic<std::uint64_t>& counter, std::uint64_t value) noexcept {
    counter.store(counter.load(kRelaxed) + value, kRelaxed);
  }

  static inline std::atomic<Transfers*> on_{nullptr};

  std::mutex mutex_;
  double next_line_ = 0, pause_ = 0;
  std::array<Counted, kConnections> connections_;
  std::array<Flight, kRequests> in_flight_;
};

}  // namespace topoguard::watch
