// SPDX-License-Identifier: Apache-2.0
// Follows each connection of one exported table from listen() to close: the trailer that the peer gets and the one that
// it sent, what is waiting, what is up, what memory it has registered. A pointer of the transport is looked up, never
// followed; the transport is called exactly once, with NCCL's own arguments, whatever fails here.
//
// The trailer is written by NCCL's own transports only: another plugin may use all of the handle, and may read bytes
// that it never wrote. In mode observe it is read, not written, and nothing is refused or ended.
//
// Thread-safety: all functions may be called from any thread. Nothing here throws.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "record/record.h"
#include "watch/trailer.h"
#include "watch/transfers.h"
#include "wrap/seat.h"

namespace topoguard {

class Connections {
 public:
  /// From now on this seat; what is known of earlier connections stays.
  void serve(const Seat& seat);
  const Seat* seat() const { return seat_.load(std::memory_order_acquire); }

  /// `call` is the transport's own function with NCCL's arguments.
  template <typename Call>
  tgnccl_result_t listen(std::uint64_t communicator, int device, void* handle, void** comm, Call call) {
    const Seat* seat = watching();
    if (seat == nullptr || handle == nullptr || comm == nullptr) return call();
    place_pattern(*seat, handle);
    const tgnccl_result_t result = call();
    if (result == tgnccl_success && *comm != nullptr) listening(*seat, communicator, device, handle, *comm);
    return result;
  }

  template <typename Call>
  tgnccl_result_t connect(std::uint64_t communicator, int device, void* handle, void** comm, Call call) {
    const Seat* seat = watching();
    if (seat == nullptr || handle == nullptr || comm == nullptr) return call();
    const double now = clock();
    const tgnccl_result_t verdict = before_connect(*seat, communicator, device, handle, now);
    if (verdict != tgnccl_success) return verdict;
    return after_poll(*seat, {handle, record::Side::send}, comm, call(), now);
  }

  template <typename Call>
  tgnccl_result_t accept(void* listen_comm, void** comm, Call call) {
    const Seat* seat = watching();
    if (seat == nullptr || comm == nullptr) return call();
    const double now = clock();
    before_accept(*seat, listen_comm, now);
    return after_poll(*seat, {listen_comm, record::Side::recv}, comm, call(), now);
  }

  void registered(void* comm, record::Memory memory, tgnccl_result_t result) noexcept;
  void closing(void* comm) noexcept;
  void closing_listener(void* comm) noexcept;
  /// test() asks for this request again and again, and it is time to look at the clock.
  void look(watch::Transfers::Slot& slot) noexcept;

 private:
  using Key = std::pair<const void*, record::Side>;
  struct Listener {
    watch::OwnEnd own;
    std::string socket;
    std::uint64_t communicator = 0;
    std::optional<int> pointers;
  };
  struct Open {
    record::Connection connection;
    unsigned memory = 0;  ///< bit per record::Memory that was reported
  };

  const Seat* watching() const {
    const Seat* now = seat();
    return now != nullptr && now->watches() ? now : nullptr;
  }
  static double clock() noexcept;       ///< seconds, steady, coarse: for each poll
  static double fine_clock() noexcept;  ///< the same clock to the nanosecond: for a connection's begin and end
  static void place_pattern(const Seat& seat, void* handle) noexcept;
  void listening(const Seat& seat, std::uint64_t communicator, int device, void* handle, void* comm) noexcept;
  tgnccl_result_t before_connect(const Seat& seat, std::uint64_t communicator, int device, const void* handle,
                                 double now) noexcept;
  tgnccl_result_t begin_connect(const Seat& seat, std::uint64_t communicator, int device, const void* handle,
                                std::uint64_t identity, double now);
  void before_accept(const Seat& seat, void* listen_comm, double now) noexcept;
  tgnccl_result_t after_poll(const Seat& seat, Key key, void* const* comm, tgnccl_result_t result, double now) noexcept;
  void came_up(const Seat& seat, Key key, void* comm, double now);

  std::atomic<const Seat*> seat_{nullptr};
  std::mutex mutex_;
  std::vector<std::unique_ptr<const Seat>> seats_;  ///< kept: a call may be inside with an earlier one
  std::map<const void*, Listener> listeners_;
  std::map<const void*, Open> open_;
};

}  // namespace topoguard
