// SPDX-License-Identifier: Apache-2.0
// The collective-network adapters, one for each pair of versions; see adapt.h and adapt_net.h.
#pragma once

#include <type_traits>

#include "wrap/adapt_parts.h"

namespace topoguard {

template <int New, int Old>
class CollNetAdapter {
 public:
  using Native = typename TablesOf<New>::CollNet;
  using Plugin = typename TablesOf<Old>::CollNet;

  static const void* show(const void* table) {
    const auto* plugin = static_cast<const Plugin*>(table);
    if (plugin != plugin_) initialised_ = false;
    plugin_ = plugin;
    shown_ = Native{};
    fill();
    return &shown_;
  }

 private:
#define TOPOGUARD_SLOT(slot, thunk)                                             \
  if constexpr (std::is_same_v<decltype(shown_.slot), decltype(plugin_->slot)>) \
    shown_.slot = plugin_->slot;                                                \
  else                                                                          \
    shown_.slot = thunk

  static void fill() {
    shown_.name = plugin_->name;
    if constexpr (New >= 11) {
      TOPOGUARD_SLOT(init, &init_communicator);
      TOPOGUARD_SLOT(listen, &listen);
    } else {
      shown_.init = &init;
      shown_.listen = plugin_->listen;
    }
    shown_.devices = plugin_->devices;
    shown_.get_properties = &get_properties;
    shown_.connect = plugin_->connect;
    shown_.reduce_support = plugin_->reduce_support;
    TOPOGUARD_SLOT(reg_mr, &reg_mr);
    shown_.reg_mr_dma_buf = plugin_->reg_mr_dma_buf;
    shown_.dereg_mr = plugin_->dereg_mr;
    TOPOGUARD_SLOT(iallreduce, &iallreduce);
    // A plugin older than v8 gathers and scatters nothing: NCCL asks before it calls.
    if constexpr (New >= 8 && Old >= 8) {
      shown_.iallgather = plugin_->iallgather != nullptr ? &iallgather<SgeOf<New>> : nullptr;
      shown_.ireducescatter = plugin_->ireducescatter != nullptr ? &ireducescatter<SgeOf<New>> : nullptr;
    }
    shown_.iflush = plugin_->iflush;
    shown_.test = plugin_->test;
    shown_.close_coll = plugin_->close_coll;
    shown_.close_listen = plugin_->close_listen;
    if constexpr (New >= 9 && Old >= 9) {
      if constexpr (New >= 12)
        shown_.make_vdevice = plugin_->make_vdevice != nullptr ? &make_vdevice : nullptr;
      else
        shown_.make_vdevice = plugin_->make_vdevice;
    }
    if constexpr (New >= 11) shown_.finalize = &finalize;
  }
#undef TOPOGUARD_SLOT

  template <typename Function>
  struct PartsArgument;
  template <typename Sge, typename... Rest>
  struct PartsArgument<tgnccl_result_t (*)(void*, void*, int, Sge*, Rest...)> {
    using Type = Sge;
  };
  template <int Version>
  using SgeOf = typename PartsArgument<decltype(TablesOf<(Version >= 8 ? Version : 8)>::CollNet::iallgather)>::Type;

  static tgnccl_result_t init(tgnccl_logger_t logger) {
    if (initialised_) return tgnccl_success;
    tgnccl_result_t result = tgnccl_internal_error;
    if constexpr (Old < 11) result = plugin_->init(logger);
    initialised_ = result == tgnccl_success;
    return result;
  }
  static tgnccl_result_t init_communicator(void** context, uint64_t, tgnccl_logger_t logger) {
    *context = nullptr;
    return init(logger);
  }
  static tgnccl_result_t finalize([[maybe_unused]] void* context) {
    if constexpr (Old >= 11)
      if (plugin_->finalize != nullptr) return plugin_->finalize(context);
    return tgnccl_success;
  }
  static tgnccl_result_t get_properties(int device, PropertiesOf<New>* properties) {
    PropertiesOf<Old> own = {};
    const tgnccl_result_t result = plugin_->get_properties(device, &own);
    if (result == tgnccl_success) convert_properties<New, Old>(device, own, properties, true);
    return result;
  }
  static tgnccl_result_t listen(void*, int device, void* handle, void** comm) {
    if constexpr (Old < 11) return plugin_->listen(device, handle, comm);
    return tgnccl_internal_error;
  }
  static tgnccl_result_t reg_mr(void* comm, void* data, size_t size, int type, void** mhandle) {
    if constexpr (Old < 8) {
      if (size > static_cast<std::size_t>(std::numeric_limits<int>::max())) return tgnccl_internal_error;
      return plugin_->reg_mr(comm, data, static_cast<int>(size), type, mhandle);
    }
    return tgnccl_internal_error;
  }
  static tgnccl_result_t iallreduce(void* comm, void* send, void* recv, size_t count, int data_type, int op,
                                    void* send_mhandle, void* recv_mhandle, void** request) {
    if constexpr (Old < 9) {
      if (!fits_int(count)) return tgnccl_internal_error;
      return plugin_->iallreduce(comm, send, recv, static_cast<int>(count), data_type, op, send_mhandle, recv_mhandle,
                                 request);
    }
    return tgnccl_internal_error;
  }

  // One part at most fits through v8's 32 bits, as NCCL has it; from v9 on the parts are the same structure.
  template <typename Sge>
  static bool one_part(int parts, const Sge* part, SgeOf<Old>* own) {
    if (parts < 0 || parts > 1) return false;
    if (parts == 0) return true;
    if (part->size > kMostCollBytes) return false;
    own->mhandle = part->mhandle;
    own->address = part->address;
    own->size = static_cast<decltype(own->size)>(part->size);
    return true;
  }
  template <typename Sge>
  static tgnccl_result_t iallgather(void* comm, void* send, int parts, Sge* recv_parts, size_t bytes_per_rank,
                                    size_t window_offset, size_t window_bytes, void* send_mhandle, void** request) {
    if constexpr (Old >= 9) {
      static_assert(sizeof(Sge) == sizeof(SgeOf<Old>));
      return plugin_->iallgather(comm, send, parts, reinterpret_cast<SgeOf<Old>*>(recv_parts), bytes_per_rank,
                                 window_offset, window_bytes, send_mhandle, request);
    } else if constexpr (Old == 8) {
      SgeOf<8> own = {};
      if (!one_part(parts, recv_parts, &own)) return tgnccl_internal_error;
      return plugin_->iallgather(comm, send, parts, &own, bytes_per_rank, window_offset, window_bytes, send_mhandle,
                                 request);
    }
    return tgnccl_internal_error;
  }
  template <typename Sge>
  static tgnccl_result_t ireducescatter(void* comm, int parts, Sge* send_parts, void* recv, size_t bytes_per_rank,
                                        size_t window_offset, size_t window_bytes, int data_type, int op,
                                        void* recv_mhandle, void** request) {
    if constexpr (Old >= 9) {
      return plugin_->ireducescatter(comm, parts, reinterpret_cast<SgeOf<Old>*>(send_parts), recv, bytes_per_rank,
                                     window_offset, window_bytes, data_type, op, recv_mhandle, request);
    } else if constexpr (Old == 8) {
      SgeOf<8> own = {};
      if (!one_part(parts, send_parts, &own)) return tgnccl_internal_error;
      return plugin_->ireducescatter(comm, parts, &own, recv, bytes_per_rank, window_offset, window_bytes, data_type,
                                     op, recv_mhandle, request);
    }
    return tgnccl_internal_error;
  }

  static tgnccl_result_t make_vdevice(int* device, tgnccl_vdevice_v12_t* parts) {
    if constexpr (Old >= 9) return make_vdevice_of_four(plugin_->make_vdevice, device, parts);
    return tgnccl_internal_error;
  }

  static inline const Plugin* plugin_ = nullptr;
  static inline bool initialised_ = false;
  static inline Native shown_{};
};

}  // namespace topoguard
