// SPDX-License-Identifier: Apache-2.0
//
// Somebody else's default net plugin (libnccl-net.so in the search path, as HPC-X or aws-ofi-nccl install one), of the
// one API version FOREIGN_API: named "Foreign Net", with a transport of its own and, as aws-ofi-nccl has it, a tuner.
// FOREIGN_FAILS in the environment lets its init() fail.
#include <cstdlib>
#include <cstring>

#include "transport.h"
#include "wrap/api.h"

#define FOREIGN_JOIN2(a, b, c) a##b##c
#define FOREIGN_JOIN(a, b, c) FOREIGN_JOIN2(a, b, c)
#define FOREIGN_EXPORT extern "C" __attribute__((visibility("default")))

using Table = FOREIGN_JOIN(tgnccl_net_v, FOREIGN_API, _t);
using Properties = topoguard::Api<Table>::Properties;
using foreign::Comm;
using foreign::Request;

namespace {

tgnccl_result_t result(bool well) { return well ? tgnccl_success : tgnccl_system_error; }

tgnccl_result_t start(tgnccl_logger_t logger) {
  if (std::getenv("FOREIGN_FAILS") != nullptr) return tgnccl_system_error;
  logger(tgnccl_log_info, ~0UL, "foreign", 0, "NET/Foreign : initialised by net API v%d", FOREIGN_API);
  return tgnccl_success;
}
[[maybe_unused]] tgnccl_result_t init(tgnccl_logger_t logger) { return start(logger); }
[[maybe_unused]] tgnccl_result_t init_profiled(tgnccl_logger_t logger, tgnccl_profiler_callback_t) {
  return start(logger);
}
[[maybe_unused]] tgnccl_result_t init_communicator(void** context, uint64_t, tgnccl_comm_config_t*,
                                                   tgnccl_logger_t logger, tgnccl_profiler_callback_t) {
  *context = nullptr;
  return start(logger);
}
[[maybe_unused]] tgnccl_result_t finalize(void*) { return tgnccl_success; }

tgnccl_result_t devices(int* count) {
  *count = foreign::device().found ? 1 : 0;
  return tgnccl_success;
}

// A template, so that members which this version does not have are left out.
template <typename P>
tgnccl_result_t get_properties(int device, P* to) {
  constexpr int api = FOREIGN_API;
  static const std::string name = foreign::device().name;
  *to = {};
  to->name = const_cast<char*>(name.c_str());
  to->guid = static_cast<uint64_t>(device);
  to->ptr_support = TGNCCL_PTR_HOST;
  to->speed = 25000;
  to->port = 1;
  to->max_comms = 1024;
  to->max_recvs = 1;
  if constexpr (api >= 9) {
    to->vprops = {1, {device}};
    to->max_p2p_bytes = to->max_coll_bytes = std::size_t{1} << 30;
  }
  if constexpr (api >= 11) to->max_multi_request_size = 1;
  if constexpr (api >= 12) to->rail_id = to->plane_id = -1;
  return tgnccl_success;
}

[[maybe_unused]] tgnccl_result_t listen(int, void* handle, void** comm) {
  return result(foreign::listen_at(handle, reinterpret_cast<Comm**>(comm)));
}
[[maybe_unused]] tgnccl_result_t listen_in(void*, int device, void* handle, void** comm) {
  return listen(device, handle, comm);
}
[[maybe_unused]] tgnccl_result_t connect(int, void* handle, void** comm, tgnccl_device_handle_t**) {
  return result(foreign::connect_to(handle, reinterpret_cast<Comm**>(comm)));
}
[[maybe_unused]] tgnccl_result_t connect_configured(int device, tgnccl_comm_config_t*, void* handle, void** comm,
                                                    tgnccl_device_handle_t** offload) {
  return connect(device, handle, comm, offload);
}
[[maybe_unused]] tgnccl_result_t connect_in(void*, int device, void* handle, void** comm,
                                            tgnccl_device_handle_t** offload) {
  return connect(device, handle, comm, offload);
}
tgnccl_result_t accept(void* listener, void** comm, tgnccl_device_handle_t**) {
  return result(foreign::accept_from(static_cast<Comm*>(listener), reinterpret_cast<Comm**>(comm)));
}

tgnccl_result_t reg_mr(void*, void* data, size_t, int type, void** handle) {
  *handle = data;
  return type == TGNCCL_PTR_HOST ? tgnccl_success : tgnccl_internal_error;
}
tgnccl_result_t dereg_mr(void*, void*) { return tgnccl_success; }

// Since v9 sizes have 64 bits.
using Size = std::conditional_t<(FOREIGN_API >= 9), size_t, int>;
[[maybe_unused]] tgnccl_result_t isend(void* comm, void* data, Size size, int, void*, void** request) {
  *request = foreign::start(static_cast<Comm*>(comm), true, data, static_cast<size_t>(size));
  return tgnccl_success;
}
[[maybe_unused]] tgnccl_result_t isend_event(void* comm, void* data, Size size, int tag, void* handle, void*,
                                             void** request) {
  return isend(comm, data, size, tag, handle, request);
}
[[maybe_unused]] tgnccl_result_t irecv(void* comm, int n, void** data, Size* sizes, int*, void**, void** request) {
  if (n != 1) return tgnccl_internal_error;
  *request = foreign::start(static_cast<Comm*>(comm), false, data[0], static_cast<size_t>(sizes[0]));
  return tgnccl_success;
}
[[maybe_unused]] tgnccl_result_t irecv_events(void* comm, int n, void** data, Size* sizes, int* tags, void** handles,
                                              void**, void** request) {
  return irecv(comm, n, data, sizes, tags, handles, request);
}
tgnccl_result_t iflush(void*, int, void**, int*, void**, void** request) {
  *request = nullptr;
  return tgnccl_success;
}
tgnccl_result_t test(void* request, int* done, int* sizes) {
  bool ended = false;
  size_t moved = 0;
  if (!foreign::poll_request(static_cast<Request*>(request), &ended, &moved)) return tgnccl_remote_error;
  *done = ended ? 1 : 0;
  if (ended && sizes != nullptr) sizes[0] = static_cast<int>(moved);
  return tgnccl_success;
}
tgnccl_result_t close_comm(void* comm) {
  foreign::close_comm(static_cast<Comm*>(comm));
  return tgnccl_success;
}

template <typename Net>
constexpr Net make_table() {
  constexpr int api = FOREIGN_API;
  Net table{};
  table.name = "Foreign Net";
  if constexpr (api >= 11) {
    table.init = init_communicator;
    table.listen = listen_in;
    table.connect = connect_in;
    table.finalize = finalize;
  } else {
    if constexpr (api == 10) {
      table.init = init_profiled;
      table.connect = connect_configured;
    } else {
      table.init = init;
      table.connect = connect;
    }
    table.listen = listen;
  }
  table.devices = devices;
  table.get_properties = get_properties<Properties>;
  table.accept = accept;
  table.reg_mr = reg_mr;
  table.dereg_mr = dereg_mr;
  if constexpr (api >= 10) {
    table.isend = isend_event;
    table.irecv = irecv_events;
  } else {
    table.isend = isend;
    table.irecv = irecv;
  }
  table.iflush = iflush;
  table.test = test;
  table.close_send = table.close_recv = table.close_listen = close_comm;
  return table;
}

// ncclTuner_v4_t (plugin/tuner/tuner_v4.h, NCCL 2.25 and later): it changes nothing, and says that it is there.
struct Tuner {
  const char* name;
  tgnccl_result_t (*init)(size_t ranks, size_t nodes, tgnccl_logger_t logger, void** context);
  tgnccl_result_t (*get_coll_info)(void* context, int function, size_t bytes, int pipes, float** costs, int algorithms,
                                   int protocols, int registered, int* channels);
  tgnccl_result_t (*destroy)(void* context);
};
tgnccl_result_t tuner_init(size_t, size_t, tgnccl_logger_t logger, void** context) {
  *context = nullptr;
  logger(tgnccl_log_info, ~0UL, "foreign", 0, "TUNER/Foreign : initialised");
  return tgnccl_success;
}
tgnccl_result_t tuner_info(void*, int, size_t, int, float**, int, int, int, int*) { return tgnccl_success; }
tgnccl_result_t tuner_destroy(void*) { return tgnccl_success; }

}  // namespace

FOREIGN_EXPORT Table FOREIGN_JOIN(ncclNetPlugin_v, FOREIGN_API, );
Table FOREIGN_JOIN(ncclNetPlugin_v, FOREIGN_API, ) = make_table<Table>();
FOREIGN_EXPORT Tuner ncclTunerPlugin_v4;
Tuner ncclTunerPlugin_v4 = {"Foreign Tuner", tuner_init, tuner_info, tuner_destroy};
