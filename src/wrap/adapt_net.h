// SPDX-License-Identifier: Apache-2.0
// The net adapters, one for each pair of versions; see adapt.h. A slot whose signature did not change is the plugin's
// own function, so that the data path is as direct as it can be.
#pragma once

#include <array>
#include <cstdlib>
#include <type_traits>

#include "wrap/adapt_parts.h"

namespace topoguard {

template <int New, int Old>
class NetAdapter {
 public:
  using Native = typename TablesOf<New>::Net;
  using Plugin = typename TablesOf<Old>::Net;

  static const void* show(const void* table) {
    const auto* plugin = static_cast<const Plugin*>(table);
    if (plugin != plugin_) initialised_ = false;
    plugin_ = plugin;
    shown_ = Native{};
    fill();
    return &shown_;
  }

 private:
  // Takes the plugin's own function where both slots have one type, else the thunk.
#define TOPOGUARD_SLOT(slot, thunk)                                             \
  if constexpr (std::is_same_v<decltype(shown_.slot), decltype(plugin_->slot)>) \
    shown_.slot = plugin_->slot;                                                \
  else                                                                          \
    shown_.slot = thunk

  static void fill() {
    shown_.name = plugin_->name;
    if constexpr (New >= 11)
      shown_.init = &init_communicator;
    else if constexpr (New == 10)
      shown_.init = &init_profiled;
    else
      shown_.init = &init;
    shown_.devices = plugin_->devices;
    shown_.get_properties = &get_properties;
    if constexpr (New >= 11) {
      TOPOGUARD_SLOT(listen, &listen);
      TOPOGUARD_SLOT(connect, &connect_in);
    } else {
      shown_.listen = plugin_->listen;
      if constexpr (New == 10)
        shown_.connect = &connect_configured;
      else
        TOPOGUARD_SLOT(connect, &connect);
    }
    TOPOGUARD_SLOT(accept, &accept);
    TOPOGUARD_SLOT(reg_mr, &reg_mr);
    shown_.reg_mr_dma_buf = plugin_->reg_mr_dma_buf;
    shown_.dereg_mr = plugin_->dereg_mr;
    if constexpr (New >= 10) {
      TOPOGUARD_SLOT(isend, &isend_event);
      TOPOGUARD_SLOT(irecv, &irecv_events);
    } else {
      TOPOGUARD_SLOT(isend, &isend);
      TOPOGUARD_SLOT(irecv, &irecv);
    }
    shown_.iflush = plugin_->iflush;
    shown_.test = plugin_->test;
    shown_.close_send = plugin_->close_send;
    shown_.close_recv = plugin_->close_recv;
    shown_.close_listen = plugin_->close_listen;
    if constexpr (New >= 7 && Old >= 7) {
      shown_.get_device_mr = plugin_->get_device_mr;
      shown_.irecv_consumed = plugin_->irecv_consumed;
    }
    if constexpr (New >= 9 && Old >= 9) {
      if constexpr (New >= 12)
        shown_.make_vdevice = plugin_->make_vdevice != nullptr ? &make_vdevice : nullptr;
      else
        shown_.make_vdevice = plugin_->make_vdevice;
    }
    if constexpr (New >= 11) {
      shown_.finalize = &finalize;
      if constexpr (Old >= 11) shown_.set_net_attr = plugin_->set_net_attr;
    }
  }
#undef TOPOGUARD_SLOT

  static tgnccl_result_t start(tgnccl_logger_t logger, tgnccl_profiler_callback_t profiler) {
    if (initialised_) return tgnccl_success;
    tgnccl_result_t result = tgnccl_internal_error;
    if constexpr (Old == 10)
      result = plugin_->init(logger, profiler);
    else if constexpr (Old < 10)
      result = plugin_->init(logger);
    initialised_ = result == tgnccl_success;
    return result;
  }
  static tgnccl_result_t init(tgnccl_logger_t logger) { return start(logger, nullptr); }
  static tgnccl_result_t init_profiled(tgnccl_logger_t logger, tgnccl_profiler_callback_t profiler) {
    return start(logger, profiler);
  }
  static tgnccl_result_t init_communicator(void** context, uint64_t id, tgnccl_comm_config_t* config,
                                           tgnccl_logger_t logger, tgnccl_profiler_callback_t profiler) {
    if constexpr (Old >= 11) {
      return plugin_->init(context, id, config, logger, profiler);
    } else {
      *context = nullptr;
      const tgnccl_result_t result = start(logger, profiler);
      if constexpr (Old == 10) {
        // Up to v10 the communicator's settings come with each connect(): the context keeps them.
        if (result != tgnccl_success) return result;
        auto* kept = static_cast<tgnccl_comm_config_t*>(std::malloc(sizeof(tgnccl_comm_config_t)));
        if (kept == nullptr) return tgnccl_system_error;
        kept->traffic_class = config != nullptr ? config->traffic_class : TGNCCL_TRAFFIC_CLASS_UNDEFINED;
        *context = kept;
      }
      return result;
    }
  }
  static tgnccl_result_t finalize(void* context) {
    if constexpr (Old >= 11)
      return plugin_->finalize != nullptr ? plugin_->finalize(context) : tgnccl_success;
    else
      std::free(context);
    return tgnccl_success;
  }

  static tgnccl_result_t get_properties(int device, PropertiesOf<New>* properties) {
    PropertiesOf<Old> own = {};
    const tgnccl_result_t result = plugin_->get_properties(device, &own);
    if (result == tgnccl_success) convert_properties<New, Old>(device, own, properties, false);
    return result;
  }

  static tgnccl_result_t listen([[maybe_unused]] void* context, int device, void* handle, void** comm) {
    if constexpr (Old < 11) return plugin_->listen(device, handle, comm);
    return tgnccl_internal_error;
  }

  static tgnccl_result_t dial([[maybe_unused]] tgnccl_comm_config_t* config, int device, void* handle, void** comm,
                              [[maybe_unused]] tgnccl_device_handle_t** offload) {
    if constexpr (Old == 10)
      return plugin_->connect(device, config, handle, comm, offload);
    else if constexpr (Old >= 7 && Old < 10)
      return plugin_->connect(device, handle, comm, offload);
    else if constexpr (Old == 6)
      return plugin_->connect(device, handle, comm);
    return tgnccl_internal_error;
  }
  static tgnccl_result_t connect(int device, void* handle, void** comm, tgnccl_device_handle_t** offload) {
    return dial(nullptr, device, handle, comm, offload);
  }
  static tgnccl_result_t connect_configured(int device, tgnccl_comm_config_t* config, void* handle, void** comm,
                                            tgnccl_device_handle_t** offload) {
    return dial(config, device, handle, comm, offload);
  }
  static tgnccl_result_t connect_in(void* context, int device, void* handle, void** comm,
                                    tgnccl_device_handle_t** offload) {
    return dial(static_cast<tgnccl_comm_config_t*>(context), device, handle, comm, offload);
  }
  static tgnccl_result_t accept(void* listener, void** comm, tgnccl_device_handle_t**) {
    if constexpr (Old == 6) return plugin_->accept(listener, comm);
    return tgnccl_internal_error;
  }

  static tgnccl_result_t reg_mr(void* comm, void* data, size_t size, int type, void** mhandle) {
    if constexpr (Old < 8) {
      if (size > static_cast<std::size_t>(std::numeric_limits<int>::max())) return tgnccl_internal_error;
      return plugin_->reg_mr(comm, data, static_cast<int>(size), type, mhandle);
    }
    return tgnccl_internal_error;
  }

  static tgnccl_result_t isend(void* comm, void* data, size_t size, int tag, void* mhandle, void** request) {
    if constexpr (Old < 9) {
      if (!fits_int(size)) return tgnccl_internal_error;
      return plugin_->isend(comm, data, static_cast<int>(size), tag, mhandle, request);
    } else if constexpr (Old == 9) {
      return plugin_->isend(comm, data, size, tag, mhandle, request);
    }
    return tgnccl_internal_error;
  }
  static tgnccl_result_t isend_event(void* comm, void* data, size_t size, int tag, void* mhandle, void*,
                                     void** request) {
    return isend(comm, data, size, tag, mhandle, request);
  }

  static tgnccl_result_t irecv(void* comm, int n, void** data, size_t* sizes, int* tags, void** mhandles,
                               void** request) {
    if constexpr (Old < 9) {
      std::array<int, kMostParts> own;
      if (n < 0 || n > kMostParts) return tgnccl_internal_error;
      for (int i = 0; i < n; ++i) {
        if (!fits_int(sizes[i])) return tgnccl_internal_error;
        own[static_cast<std::size_t>(i)] = static_cast<int>(sizes[i]);
      }
      // NCCL's hint that the completion may be skipped (NCCL_NET_OPTIONAL_RECV_COMPLETION) came with v9.
      if (*request == reinterpret_cast<void*>(1)) *request = nullptr;
      return plugin_->irecv(comm, n, data, own.data(), tags, mhandles, request);
    } else if constexpr (Old == 9) {
      return plugin_->irecv(comm, n, data, sizes, tags, mhandles, request);
    }
    return tgnccl_internal_error;
  }
  static tgnccl_result_t irecv_events(void* comm, int n, void** data, size_t* sizes, int* tags, void** mhandles, void**,
                                      void** request) {
    return irecv(comm, n, data, sizes, tags, mhandles, request);
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
