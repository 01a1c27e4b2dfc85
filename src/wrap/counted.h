// SPDX-License-Identifier: Apache-2.0
// Data slots that count, for TOPOGUARD_STALL_WARN_S: the wrapped transport's function with NCCL's own arguments, and a
// few instructions around it (tests/bench/instructions). By default none of these is in use.
#pragma once

#include <tuple>

#include "watch/transfers.h"
#include "wrap/api.h"

namespace topoguard {

// In every version the request is the last argument.
template <typename... Rest>
void** request_of(Rest... rest) {
  return std::get<sizeof...(Rest) - 1>(std::tuple<Rest...>(rest...));
}

/// The transport's own function behind a counting slot: set before the slot is, and kept when the slot no longer
/// counts, for calls that are still inside. A plain word, as NCCL reads the slot itself: a call by an atomic one takes
/// an instruction more.
template <auto Slot>
struct Behind;

template <typename Table, typename Function, Function Table::*Slot>
struct Behind<Slot> {
  static inline Function function = nullptr;

  /// Stores what is new only: calls of other threads may be reading.
  static void set(Function stock) noexcept {
    if (__atomic_load_n(&function, __ATOMIC_RELAXED) != stock) __atomic_store_n(&function, stock, __ATOMIC_RELAXED);
  }
};

// What follows the transport's call ends in another function where there is more to do than to count, and what only
// that one needs lies in memory: so the common way saves no register for it.

template <auto Slot>
struct CountedSend;

template <typename Table, typename Size, typename... Rest, tgnccl_result_t (*Table::*Slot)(void*, void*, Size, Rest...)>
struct CountedSend<Slot> {
  static tgnccl_result_t call(void* comm, void* data, Size size, Rest... rest) {
    void* volatile kept = comm;
    const tgnccl_result_t result = Behind<Slot>::function(comm, data, size, rest...);
    if (__builtin_expect(result != tgnccl_success, 0)) return result;
    const void* request = *request_of(rest...);
    if (request == nullptr || watch::Transfers::sent(request, static_cast<std::uint64_t>(size))) return tgnccl_success;
    return first(kept, request, static_cast<std::uint64_t>(size));
  }

 private:
  [[gnu::cold, gnu::noinline]] static tgnccl_result_t first(const void* comm, const void* request, std::uint64_t size) {
    watch::Transfers::first_sent(comm, request, size);
    return tgnccl_success;
  }
};

template <auto Slot>
struct CountedReceive;

template <typename Table, typename... Rest, tgnccl_result_t (*Table::*Slot)(void*, int, Rest...)>
struct CountedReceive<Slot> {
  static tgnccl_result_t call(void* comm, int pieces, Rest... rest) {
    void* volatile kept = comm;
    volatile int kept_pieces = pieces;
    const tgnccl_result_t result = Behind<Slot>::function(comm, pieces, rest...);
    if (__builtin_expect(result != tgnccl_success, 0)) return result;
    const void* request = *request_of(rest...);
    if (request == nullptr || watch::Transfers::receiving(request, kept_pieces)) return tgnccl_success;
    return first(kept, request, kept_pieces);
  }

 private:
  [[gnu::cold, gnu::noinline]] static tgnccl_result_t first(const void* comm, const void* request, int pieces) {
    watch::Transfers::first_receiving(comm, request, pieces);
    return tgnccl_success;
  }
};

/// A flush takes its request from the receives' array: uncounted, it would look like a receive that is never done.
template <auto Slot>
struct CountedFlush;

template <typename Table, typename... Rest, tgnccl_result_t (*Table::*Slot)(void*, int, Rest...)>
struct CountedFlush<Slot> {
  static tgnccl_result_t call(void* comm, int pieces, Rest... rest) {
    void* volatile kept = comm;
    const tgnccl_result_t result = Behind<Slot>::function(comm, pieces, rest...);
    if (__builtin_expect(result != tgnccl_success, 0)) return result;
    const void* request = *request_of(rest...);
    if (request == nullptr || watch::Transfers::flushing(request)) return tgnccl_success;
    return first(kept, request);
  }

 private:
  [[gnu::cold, gnu::noinline]] static tgnccl_result_t first(const void* comm, const void* request) {
    watch::Transfers::first_flushing(comm, request);
    return tgnccl_success;
  }
};

/// `Look` is called with a request's slot once in a while, before a send is asked for, or where a receive is not done
/// yet.
template <auto Slot, void (*Look)(watch::Transfers::Slot&)>
struct CountedTest;

template <typename Table, tgnccl_result_t (*Table::*Slot)(void*, int*, int*), void (*Look)(watch::Transfers::Slot&)>
struct CountedTest<Slot, Look> {
  // What is received in one piece, as nearly everything is, needs the fewest instructions where it is done.
  static tgnccl_result_t call(void* request, int* done, int* sizes) {
    watch::Transfers::Slot* slot = watch::Transfers::first_place_of(request);
    if (__builtin_expect(slot == nullptr, 0)) return search(request, done, sizes);
    if (slot->pieces != 1) return other(request, done, sizes, slot);
    watch::Transfers::Slot* volatile kept = slot;
    int* volatile kept_done = done;
    int* volatile kept_sizes = sizes;
    const tgnccl_result_t result = stock(request, done, sizes);
    if (__builtin_expect(result != tgnccl_success, 0)) return result;
    slot = kept;
    if (*kept_done != 0) {
      slot->received(kept_sizes);
      return tgnccl_success;
    }
    return slot->polled() ? look(slot) : tgnccl_success;
  }

 private:
  static tgnccl_result_t stock(void* request, int* done, int* sizes) {
    return Behind<Slot>::function(request, done, sizes);
  }
  [[gnu::noinline]] static tgnccl_result_t other(void* request, int* done, int* sizes, watch::Transfers::Slot* slot) {
    if (slot->polled()) return look_first(request, done, sizes, slot);
    return answer(request, done, sizes, slot);
  }
  // What is sent is known: there the transport answers NCCL itself.
  static tgnccl_result_t answer(void* request, int* done, int* sizes, watch::Transfers::Slot* slot) {
    return slot->pieces != 0 ? receive(request, done, sizes, slot) : stock(request, done, sizes);
  }
  [[gnu::noinline]] static tgnccl_result_t receive(void* request, int* done, int* sizes, watch::Transfers::Slot* slot) {
    const tgnccl_result_t result = stock(request, done, sizes);
    if (result == tgnccl_success && *done != 0) slot->received(sizes, slot->pieces);
    return result;
  }
  [[gnu::cold, gnu::noinline]] static tgnccl_result_t look(watch::Transfers::Slot* slot) {
    Look(*slot);
    return tgnccl_success;
  }
  [[gnu::cold, gnu::noinline]] static tgnccl_result_t look_first(void* request, int* done, int* sizes,
                                                                 watch::Transfers::Slot* slot) {
    Look(*slot);
    return answer(request, done, sizes, slot);
  }
  [[gnu::cold, gnu::noinline]] static tgnccl_result_t search(void* request, int* done, int* sizes) {
    watch::Transfers::Slot* slot = watch::Transfers::slot_of(request);
    return slot != nullptr ? other(request, done, sizes, slot) : stock(request, done, sizes);
  }
};

}  // namespace topoguard
