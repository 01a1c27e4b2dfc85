// SPDX-License-Identifier: Apache-2.0
// The exported collective-network tables (SHARP and the like): there is one only where a wrapped foreign plugin brings
// it; NCCL itself has none. Without one init() fails, which NCCL takes for "no collective network" and goes on.
#pragma once

#include <type_traits>

#include "wrap/api.h"

namespace topoguard {

/// init() of the exported table: what the plugin does not have, NCCL must not see (it asks for iallgather before it
/// tunes, graph/tuning.cc).
template <auto* Exported, typename Function>
struct CollNetInit;

template <auto* Exported, typename... Arguments>
struct CollNetInit<Exported, tgnccl_result_t (*)(Arguments...)> {
  using Table = std::remove_pointer_t<decltype(Exported)>;

  static tgnccl_result_t call(Arguments... arguments) {
    const Table* table = Wrapped<Table>::table.load(std::memory_order_acquire);
    if (table == nullptr) return tgnccl_internal_error;
    fit<&Table::reg_mr_dma_buf>(*table);
    if constexpr (Api<Table>::kVersion >= 8) {
      fit<&Table::iallgather>(*table);
      fit<&Table::ireducescatter>(*table);
    }
    if constexpr (Api<Table>::kVersion >= 9) fit<&Table::make_vdevice>(*table);
    return table->init(arguments...);
  }

 private:
  template <auto Slot>
  static void fit(const Table& table) {
    __atomic_store_n(&(Exported->*Slot), table.*Slot != nullptr ? &Through<Slot>::call : nullptr, __ATOMIC_RELEASE);
  }
};

template <auto* Exported>
constexpr auto make_collnet_table() {
  using Table = std::remove_pointer_t<decltype(Exported)>;
  Table table{};
  table.name = "topoguard";
  table.init = &CollNetInit<Exported, decltype(table.init)>::call;
  table.devices = &Through<&Table::devices>::call;
  table.get_properties = &Through<&Table::get_properties>::call;
  table.listen = &Through<&Table::listen>::call;
  table.connect = &Through<&Table::connect>::call;
  table.reduce_support = &Through<&Table::reduce_support>::call;
  table.reg_mr = &Through<&Table::reg_mr>::call;
  table.reg_mr_dma_buf = &Through<&Table::reg_mr_dma_buf>::call;
  table.dereg_mr = &Through<&Table::dereg_mr>::call;
  table.iallreduce = &Through<&Table::iallreduce>::call;
  if constexpr (Api<Table>::kVersion >= 8) {
    table.iallgather = &Through<&Table::iallgather>::call;
    table.ireducescatter = &Through<&Table::ireducescatter>::call;
  }
  table.iflush = &Through<&Table::iflush>::call;
  table.test = &Through<&Table::test>::call;
  table.close_coll = &Through<&Table::close_coll>::call;
  table.close_listen = &Through<&Table::close_listen>::call;
  if constexpr (Api<Table>::kVersion >= 9) table.make_vdevice = &Through<&Table::make_vdevice>::call;
  if constexpr (Api<Table>::kVersion >= 11) table.finalize = &Through<&Table::finalize>::call;
  return table;
}

}  // namespace topoguard
