// SPDX-License-Identifier: Apache-2.0
// GPU-initiated networking: NCCL 2.28.7 to 2.29.3 take it from the net plugin's library and lose it with any plugin
// that has none. The exported table forwards to NCCL's own ncclGinIbProxy while its IB transport is wrapped; else its
// init() fails, which NCCL takes for "no GIN".
#pragma once

#include "nccl/gin_v11.h"
#include "wrap/api.h"

namespace topoguard {

inline void use_gin(const tgnccl_gin_v11_t* table) {
  Wrapped<tgnccl_gin_v11_t>::table.store(table, std::memory_order_release);
}

constexpr tgnccl_gin_v11_t make_gin_table() {
  using Table = tgnccl_gin_v11_t;
  Table table{};
  table.name = "topoguard";
  table.init = &Through<&Table::init>::call;
  table.devices = &Through<&Table::devices>::call;
  table.get_properties = &Through<&Table::get_properties>::call;
  table.listen = &Through<&Table::listen>::call;
  table.connect = &Through<&Table::connect>::call;
  table.create_context = &Through<&Table::create_context>::call;
  table.reg_mr_sym = &Through<&Table::reg_mr_sym>::call;
  table.reg_mr_sym_dma_buf = &Through<&Table::reg_mr_sym_dma_buf>::call;
  table.dereg_mr_sym = &Through<&Table::dereg_mr_sym>::call;
  table.destroy_context = &Through<&Table::destroy_context>::call;
  table.close_coll = &Through<&Table::close_coll>::call;
  table.close_listen = &Through<&Table::close_listen>::call;
  table.iput = &Through<&Table::iput>::call;
  table.iput_signal = &Through<&Table::iput_signal>::call;
  table.test = &Through<&Table::test>::call;
  table.progress = &Through<&Table::progress>::call;
  table.query_last_error = &Through<&Table::query_last_error>::call;
  table.finalize = &Through<&Table::finalize>::call;
  return table;
}

}  // namespace topoguard
