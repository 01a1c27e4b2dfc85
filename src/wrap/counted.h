// SPDX-License-Identifier: Apache-2.0
// Data slots that count, for TOPOGUARD_STALL_WARN_S: the wrapped transport's function with NCCL's own arguments, and a
// few instructions after it. By default none of these is in use.
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

template <auto Slot>
struct CountedSend;

template <typename Table, typename Size, typename... Rest, tgnccl_result_t (*Table::*Slot)(void*, void*, Size, Rest...)>
struct CountedSend<Slot> {
  static tgnccl_result_t call(void* comm, void* data, Size size, Rest... rest) {
    const Table* table = Wrapped<Table>::table.load(std::memory_order_acquire);
    if (table == nullptr) return tgnccl_internal_error;
    const tgnccl_result_t result = (table->*Slot)(comm, data, size, rest...);
    void** request = request_of(rest...);
    if (result == tgnccl_success && *request != nullptr)
      watch::Transfers::on()->started(comm, *request, static_cast<std::uint64_t>(size), 0);
    return result;
  }
};

template <auto Slot>
struct CountedReceive;

template <typename Table, typename... Rest, tgnccl_result_t (*Table::*Slot)(void*, int, Rest...)>
struct CountedReceive<Slot> {
  static tgnccl_result_t call(void* comm, int pieces, Rest... rest) {
    const Table* table = Wrapped<Table>::table.load(std::memory_order_acquire);
    if (table == nullptr) return tgnccl_internal_error;
    const tgnccl_result_t result = (table->*Slot)(comm, pieces, rest...);
    void** request = request_of(rest...);
    if (result == tgnccl_success && *request != nullptr) watch::Transfers::on()->started(comm, *request, 0, pieces);
    return result;
  }
};

/// `Unfinished` is called with a request once in a while.
template <auto Slot, void (*Unfinished)(const void*)>
struct CountedTest;

template <typename Table, tgnccl_result_t (*Table::*Slot)(void*, int*, int*), void (*Unfinished)(const void*)>
struct CountedTest<Slot, Unfinished> {
  static tgnccl_result_t call(void* request, int* done, int* sizes) {
    const Table* table = Wrapped<Table>::table.load(std::memory_order_acquire);
    if (table == nullptr) return tgnccl_internal_error;
    const tgnccl_result_t result = (table->*Slot)(request, done, sizes);
    if (result != tgnccl_success) return result;
    watch::Transfers* transfers = watch::Transfers::on();
    if (*done != 0)
      transfers->finished(request, sizes);
    else if (transfers->unfinished(request))
      Unfinished(request);
    return result;
  }
};

}  // namespace topoguard
