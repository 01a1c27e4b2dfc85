// SPDX-License-Identifier: Apache-2.0
// The seven net tables as one family of types, and slots that forward to whatever table is wrapped at the moment.
#pragma once

#include <atomic>

#include "nccl/collnet_v10.h"
#include "nccl/collnet_v11.h"
#include "nccl/collnet_v12.h"
#include "nccl/collnet_v6.h"
#include "nccl/collnet_v7.h"
#include "nccl/collnet_v8.h"
#include "nccl/collnet_v9.h"

namespace topoguard {

template <typename Table>
struct Api;

#define TOPOGUARD_API(version)                               \
  template <>                                                \
  struct Api<tgnccl_net_v##version##_t> {                    \
    static constexpr int kVersion = version;                 \
    using Properties = tgnccl_net_properties_v##version##_t; \
    using CollNet = tgnccl_collnet_v##version##_t;           \
  };                                                         \
  template <>                                                \
  struct Api<tgnccl_collnet_v##version##_t> {                \
    static constexpr int kVersion = version;                 \
    using Net = tgnccl_net_v##version##_t;                   \
  }
TOPOGUARD_API(6);
TOPOGUARD_API(7);
TOPOGUARD_API(8);
TOPOGUARD_API(9);
TOPOGUARD_API(10);
TOPOGUARD_API(11);
TOPOGUARD_API(12);
#undef TOPOGUARD_API

/// The wrapped table of one type; null while there is none. One word, so that a data call needs no lock.
template <typename Table>
struct Wrapped {
  static inline std::atomic<const Table*> table{nullptr};
};

/// Through<&Table::slot>::call has the slot's signature and forwards to the wrapped table's slot.
template <auto Slot>
struct Through;

template <typename Table, typename... Arguments, tgnccl_result_t (*Table::*Slot)(Arguments...)>
struct Through<Slot> {
  static tgnccl_result_t call(Arguments... arguments) {
    const Table* table = Wrapped<Table>::table.load(std::memory_order_acquire);
    if (table == nullptr || table->*Slot == nullptr) return tgnccl_internal_error;
    return (table->*Slot)(arguments...);
  }
};

}  // namespace topoguard
