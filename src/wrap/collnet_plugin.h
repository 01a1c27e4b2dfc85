// SPDX-License-Identifier: Apache-2.0
// The exported collective-network tables (SHARP and the like): there is one only where a wrapped foreign plugin brings
// it; NCCL itself has none. Without one init() fails, which NCCL takes for "no collective network" and goes on.
#pragma once

#include "wrap/api.h"

namespace topoguard {

template <typename Table>
constexpr Table make_collnet_table() {
  Table table{};
  table.name = "topoguard";
  table.init = &Through<&Table::init>::call;
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
