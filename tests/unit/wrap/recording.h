// SPDX-License-Identifier: Apache-2.0
// A plugin of any version whose functions write down what they were called with.
#pragma once

#include <cstring>
#include <string>

#include "wrap/adapt_parts.h"

struct Recorded {
  int inits = 0, finalizes = 0;
  tgnccl_result_t init_result = tgnccl_success;
  int device = -1, traffic_class = -2, tag = -1, parts = -1, count = -1;
  std::size_t size = 0, sizes[2] = {};
  void *comm = nullptr, *data = nullptr, *handle = nullptr, *context = nullptr;
  void* request_on_entry = nullptr;
  void* profiler = nullptr;
  tgnccl_device_handle_t** offload = nullptr;
  int vdevice[5] = {};
};

/// One per process: tests clear it.
inline Recorded recorded;

template <int Version>
struct RecordingPlugin {
  using Net = typename topoguard::TablesOf<Version>::Net;
  using CollNet = typename topoguard::TablesOf<Version>::CollNet;
  using Properties = topoguard::PropertiesOf<Version>;
  using RegSize = std::conditional_t<(Version >= 8), std::size_t, int>;
  using SendSize = std::conditional_t<(Version >= 9), std::size_t, int>;

  static tgnccl_result_t note_init(void* profiler) {
    ++recorded.inits;
    recorded.profiler = profiler;
    return recorded.init_result;
  }
  static tgnccl_result_t init(tgnccl_logger_t) { return note_init(nullptr); }
  static tgnccl_result_t init10(tgnccl_logger_t, tgnccl_profiler_callback_t profiler) {
    return note_init(reinterpret_cast<void*>(profiler));
  }
  static tgnccl_result_t init11(void** context, uint64_t, tgnccl_comm_config_t* config, tgnccl_logger_t,
                                tgnccl_profiler_callback_t profiler) {
    *context = &recorded;
    recorded.traffic_class = config->traffic_class;
    return note_init(reinterpret_cast<void*>(profiler));
  }
  static tgnccl_result_t finalize(void* context) {
    ++recorded.finalizes;
    recorded.context = context;
    return tgnccl_success;
  }
  static tgnccl_result_t devices(int* count) {
    *count = 2;
    return tgnccl_success;
  }
  // Every member has a value of its own.
  template <typename P>
  static tgnccl_result_t properties(int device, P* to) {
    if (device < 0) return tgnccl_invalid_argument;
    std::memset(to, 0, sizeof *to);
    static char name[] = "rec0", path[] = "/sys/devices/rec";
    to->name = name;
    to->pci_path = path;
    to->guid = 0x1234567890abcdefULL;
    to->ptr_support = 7;
    to->speed = 400000;
    to->port = 3;
    to->latency = 1.5F;
    to->max_comms = 4096;
    to->max_recvs = 8;
    if constexpr (Version >= 7) {
      to->device_type = TGNCCL_NET_DEVICE_UNPACK;
      to->device_version = 7;
    }
    if constexpr (Version >= 8) to->reg_is_global = 1;
    if constexpr (Version >= 9) {
      to->force_flush = 1;
      to->vprops.ndevs = 3;
      for (int i = 0; i < 3; ++i) to->vprops.devs[i] = 10 + i;
      to->max_p2p_bytes = 111;
      to->max_coll_bytes = 222;
    }
    if constexpr (Version >= 11) to->max_multi_request_size = 5;
    if constexpr (Version >= 12) to->rail_id = to->plane_id = 9;
    return tgnccl_success;
  }
  static tgnccl_result_t listen(int device, void* handle, void** comm) {
    recorded.device = device;
    recorded.handle = handle;
    *comm = &recorded;
    return tgnccl_success;
  }
  static tgnccl_result_t listen11(void* context, int device, void* handle, void** comm) {
    recorded.context = context;
    return listen(device, handle, comm);
  }
  static tgnccl_result_t connect6(int device, void* handle, void** comm) { return listen(device, handle, comm); }
  static tgnccl_result_t connect7(int device, void* handle, void** comm, tgnccl_device_handle_t** offload) {
    recorded.offload = offload;
    return listen(device, handle, comm);
  }
  static tgnccl_result_t connect10(int device, tgnccl_comm_config_t* config, void* handle, void** comm,
                                   tgnccl_device_handle_t** offload) {
    recorded.traffic_class = config != nullptr ? config->traffic_class : -3;
    return connect7(device, handle, comm, offload);
  }
  static tgnccl_result_t connect11(void* context, int device, void* handle, void** comm,
                                   tgnccl_device_handle_t** offload) {
    recorded.context = context;
    return connect7(device, handle, comm, offload);
  }
  static tgnccl_result_t accept6(void* listener, void** comm) {
    recorded.comm = listener;
    *comm = &recorded;
    return tgnccl_success;
  }
  static tgnccl_result_t accept7(void* listener, void** comm, tgnccl_device_handle_t** offload) {
    recorded.offload = offload;
    return accept6(listener, comm);
  }
  static tgnccl_result_t reg_mr(void* comm, void* data, RegSize size, int, void** handle) {
    recorded.comm = comm;
    recorded.data = data;
    recorded.size = static_cast<std::size_t>(size);
    *handle = &recorded;
    return tgnccl_success;
  }
  static tgnccl_result_t isend(void* comm, void* data, SendSize size, int tag, void*, void** request) {
    recorded.comm = comm;
    recorded.data = data;
    recorded.size = static_cast<std::size_t>(size);
    recorded.tag = tag;
    *request = &recorded;
    return tgnccl_success;
  }
  static tgnccl_result_t isend10(void* comm, void* data, SendSize size, int tag, void* handle, void*, void** request) {
    return isend(comm, data, size, tag, handle, request);
  }
  static tgnccl_result_t irecv(void* comm, int n, void** data, SendSize* sizes, int* tags, void**, void** request) {
    recorded.comm = comm;
    recorded.parts = n;
    recorded.data = data[n - 1];
    for (int i = 0; i < n && i < 2; ++i) recorded.sizes[i] = static_cast<std::size_t>(sizes[i]);
    recorded.tag = tags[n - 1];
    recorded.request_on_entry = *request;
    *request = &recorded;
    return tgnccl_success;
  }
  static tgnccl_result_t irecv10(void* comm, int n, void** data, SendSize* sizes, int* tags, void** handles, void**,
                                 void** request) {
    return irecv(comm, n, data, sizes, tags, handles, request);
  }
  template <typename V>
  static tgnccl_result_t make_vdevice(int* device, V* parts) {
    *device = 77;
    recorded.vdevice[0] = parts->ndevs;
    for (int i = 0; i < 4; ++i) recorded.vdevice[1 + i] = parts->devs[i];
    return tgnccl_success;
  }
  static tgnccl_result_t set_net_attr(void* context, tgnccl_net_attr_t*) {
    recorded.context = context;
    return tgnccl_success;
  }
  template <typename Function>
  struct Succeed;
  template <typename... A>
  struct Succeed<tgnccl_result_t (*)(A...)> {
    static tgnccl_result_t call(A...) { return tgnccl_success; }
  };

  template <typename T = Net>
  static T net() {
    T t{};
    t.name = "Recording";
    t.devices = devices;
    t.get_properties = properties<Properties>;
    t.reg_mr = reg_mr;
    t.reg_mr_dma_buf = &Succeed<decltype(t.reg_mr_dma_buf)>::call;
    t.dereg_mr = &Succeed<decltype(t.dereg_mr)>::call;
    t.iflush = &Succeed<decltype(t.iflush)>::call;
    t.test = &Succeed<decltype(t.test)>::call;
    t.close_send = t.close_recv = t.close_listen = &Succeed<decltype(t.close_send)>::call;
    if constexpr (Version >= 11) {
      t.init = init11;
      t.listen = listen11;
      t.connect = connect11;
      t.finalize = finalize;
      t.set_net_attr = set_net_attr;
    } else {
      t.listen = listen;
      if constexpr (Version == 10) {
        t.init = init10;
        t.connect = connect10;
      } else {
        t.init = init;
        if constexpr (Version >= 7)
          t.connect = connect7;
        else
          t.connect = connect6;
      }
    }
    if constexpr (Version >= 7) {
      t.accept = accept7;
      t.get_device_mr = &Succeed<decltype(t.get_device_mr)>::call;
      t.irecv_consumed = &Succeed<decltype(t.irecv_consumed)>::call;
    } else {
      t.accept = accept6;
    }
    if constexpr (Version >= 10) {
      t.isend = isend10;
      t.irecv = irecv10;
    } else {
      t.isend = isend;
      t.irecv = irecv;
    }
    if constexpr (Version >= 9) t.make_vdevice = make_vdevice;
    return t;
  }

  static tgnccl_result_t coll_init11(void** context, uint64_t, tgnccl_logger_t) {
    *context = &recorded;
    return note_init(nullptr);
  }
  template <typename Count>
  static tgnccl_result_t iallreduce(void* comm, void*, void*, Count count, int, int, void*, void*, void** request) {
    recorded.comm = comm;
    recorded.size = static_cast<std::size_t>(count);
    *request = &recorded;
    return tgnccl_success;
  }
  template <typename Sge>
  static tgnccl_result_t iallgather(void* comm, void*, int parts, Sge* part, size_t, size_t, size_t, void*,
                                    void** request) {
    recorded.comm = comm;
    recorded.parts = parts;
    recorded.data = part->address;
    recorded.size = part->size;
    *request = &recorded;
    return tgnccl_success;
  }

  template <typename T = CollNet>
  static T collnet() {
    T t{};
    t.name = "RecordingColl";
    t.devices = devices;
    t.get_properties = properties<Properties>;
    t.reg_mr = reg_mr;
    t.iallreduce = iallreduce;
    t.test = &Succeed<decltype(t.test)>::call;
    if constexpr (Version >= 8) t.iallgather = iallgather;
    if constexpr (Version >= 9) t.make_vdevice = make_vdevice;
    if constexpr (Version >= 11) {
      t.init = coll_init11;
      t.listen = listen11;
      t.finalize = finalize;
    } else {
      t.init = init;
      t.listen = listen;
    }
    return t;
  }
};
