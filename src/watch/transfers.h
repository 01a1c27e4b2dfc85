// SPDX-License-Identifier: Apache-2.0
// Requests in flight and what went through each connection, where TOPOGUARD_STALL_WARN_S is set; else nothing calls
// this. The data path's part is one probe of a table and a few additions in one cache line: no lock, no allocation, no
// clock. tests/bench/instructions counts them.
//
// Transports keep requests in arrays and use them again and again. So a request gets a slot when it is first seen, and
// keeps it until its connection closes; the slot holds what went through that request. Nobody is told when a request is
// done: the next one in its place has another number, and who is done is not polled.
//
// Thread-safety: all functions may be called from any thread; NCCL calls isend, irecv, iflush and test of one
// connection from one thread at a time, and closes it after the last of them (2.18 to 2.30, proxy progress and service
// threads). So a slot's counters are plain words of its connection's own. Both tables are of fixed size: who finds no
// room is not counted and not watched; nothing else depends on it.
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
  static constexpr std::uint32_t kLookEvery = 1024;  ///< polls of one request

  struct Sum {
    std::uint64_t operations = 0, bytes = 0;  ///< of sends and receives
  };

  /// One request of one connection. A line of the cache holds what the data path needs; its order keeps a compiler from
  /// making one vector of two counters, which costs more than it saves.
  struct alignas(64) Slot {
    std::atomic<const void*> request{nullptr};
    std::uint64_t started = 0;
    std::uint32_t to_look = 0;  ///< polls; 0 in a slot that is free
    int pieces = 0;             ///< of the receive in flight: its bytes are known when it is done
    std::uint64_t bytes = 0, flushes = 0;
    std::atomic<const void*> comm{nullptr};
    std::uint32_t next = 0;

    /// test() is asked. True once in a while: then look() is due, which sets it anew.
    bool polled() noexcept { return __builtin_expect(--to_look == 0, 0); }
    /// A receive is done. `sizes` as NCCL passed it, one for each piece; may be null.
    void received(const int* sizes, int count = 1) noexcept {
      if (sizes == nullptr) return;
      for (int i = 0; i < count; ++i) bytes += static_cast<unsigned>(sizes[i]);
    }
  };

  /// Of the process: null until start(), then for ever. The data path does without asking.
  static Transfers* on() noexcept { return on_.load(std::memory_order_acquire); }
  static void start();

  /// A connection came up: its transfers are counted from now on.
  static void open(const void* comm) noexcept;
  /// What went through it; nullopt where it was not counted.
  static std::optional<Sum> close(const void* comm) noexcept;

  /// isend, irecv and iflush, where they made a request (never null). False: it has no slot yet, and first_...() is
  /// due.
  static bool sent(const void* request, std::uint64_t bytes) noexcept {
    Slot* slot = home(request);
    if (__builtin_expect(slot->request.load(kRelaxed) != request, 0)) return false;
    slot->bytes += bytes;
    ++slot->started;
    return true;
  }
  static bool receiving(const void* request, int pieces) noexcept {
    Slot* slot = home(request);
    if (__builtin_expect(slot->request.load(kRelaxed) != request, 0)) return false;
    slot->pieces = pieces;
    ++slot->started;
    return true;
  }
  static bool flushing(const void* request) noexcept {
    Slot* slot = home(request);
    if (__builtin_expect(slot->request.load(kRelaxed) != request, 0)) return false;
    slot->pieces = 0;
    ++slot->started;
    ++slot->flushes;
    return true;
  }
  [[gnu::cold, gnu::noinline]] static void first_sent(const void* comm, const void* request,
                                                      std::uint64_t bytes) noexcept;
  [[gnu::cold, gnu::noinline]] static void first_receiving(const void* comm, const void* request, int pieces) noexcept;
  [[gnu::cold, gnu::noinline]] static void first_flushing(const void* comm, const void* request) noexcept;

  /// The request's slot, for test(); null where it is not in its first place.
  static Slot* first_place_of(const void* request) noexcept {
    Slot* slot = home(request);
    return __builtin_expect(slot->request.load(kRelaxed) == request, 1) ? slot : nullptr;
  }
  /// The same with all other places; null where it is not counted.
  [[gnu::cold, gnu::noinline]] static Slot* slot_of(const void* request) noexcept;

  struct Stalled {
    const void* comm = nullptr;
    int requests = 0;
    double longest = 0;  ///< seconds since its first look
  };
  /// The clock's part, for one request. Where that one is in flight for `limit` seconds: all that are, by connection.
  static std::vector<Stalled> look(Slot& asked, double now, double limit);
  /// Whether a line about that is due: at the first, and whenever the time has doubled.
  bool due(double now, double limit);

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;
  static constexpr std::size_t kSlots = 16384, kConnections = 4096, kProbes = 8;

  struct Connection {
    std::atomic<const void*> comm{nullptr};
    std::uint32_t first = 0;  // its newest slot's number plus one
  };
  // When a request was looked at; it belongs to slots_[same number].
  struct Looks {
    std::uint64_t started = 0;  // the request that was in flight then
    std::atomic<double> since{0}, last{0};
  };

  // Requests of all connections lie at the same few distances from each other, often from a page's begin on. The
  // product's upper half depends on all bits; masked, it is the slot's place in bytes.
  static std::size_t place_of(const void* request) noexcept {
    const auto mixed = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(request)) * 0x61C88647u;
    return (mixed >> 20) & ((kSlots - 1) * sizeof(Slot));
  }
  static Slot* home(const void* request) noexcept {
    return reinterpret_cast<Slot*>(reinterpret_cast<char*>(slots_.data()) + place_of(request));
  }
  static Connection* find(const void* comm) noexcept;
  [[gnu::cold, gnu::noinline]] static Slot* claim(const void* comm, const void* request) noexcept;

  // Pages that nobody uses cost address space only. Never destroyed: NCCL may call after static destructors ran.
  static std::array<Slot, kSlots> slots_;
  static std::array<Looks, kSlots> looks_;
  static std::array<Connection, kConnections> connections_;
  static inline std::atomic<Transfers*> on_{nullptr};

  std::mutex mutex_;
  double next_line_ = 0, pause_ = 0;
};

}  // namespace topoguard::watch
