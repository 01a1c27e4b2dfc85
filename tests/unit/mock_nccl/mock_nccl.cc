// SPDX-License-Identifier: Apache-2.0
// Built once per API version (MOCK_API) and release (MOCK_VERSION). MOCK_TWINS adds a second Socket table.
#include "mock_nccl.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "nccl/gin_v11.h"
#include "wrap/api.h"

#define MOCK_JOIN2(a, b, c) a##b##c
#define MOCK_JOIN(a, b, c) MOCK_JOIN2(a, b, c)
#define MOCK_EXPORT extern "C" __attribute__((visibility("default")))

using Table = MOCK_JOIN(tgnccl_net_v, MOCK_API, _t);
using Properties = MOCK_JOIN(tgnccl_net_properties_v, MOCK_API, _t);

extern "C" {
extern Table ncclNetIb;
extern Table ncclNetSocket;
#if MOCK_TWINS
extern Table other_socket;
#endif
extern tgnccl_gin_v11_t ncclGinIbProxy;
}

namespace {

Mock mock = {};
// bootstrap.cc has it as a static of this name, size and mangling.
}  // namespace
static char bootstrapNetIfName[17] = "mock0";
MOCK_EXPORT char* mock_bootstrap() { return bootstrapNetIfName; }
namespace {

// Slots that only count as "some function of this object".
template <auto Slot, int Which>
struct Stub;
template <typename T, typename... A, tgnccl_result_t (*T::*Slot)(A...), int Which>
struct Stub<Slot, Which> {
  static tgnccl_result_t call(A...) {
    // Different code for each, or the linker may fold them into one.
    static volatile int calls;
    calls = calls + 1 + Which;
    return tgnccl_success;
  }
};

MockTransport& transport(int which) { return which == 0 ? mock.ib : mock.socket; }

tgnccl_result_t first_result(int which) {
  MockTransport& t = transport(which);
  const bool first = t.inits++ == 0;
  const char* ifname = std::getenv("NCCL_SOCKET_IFNAME");
  std::snprintf(t.ifname_at_init, sizeof t.ifname_at_init, "%s", ifname != nullptr ? ifname : "(unset)");
  return first || !t.sticky ? static_cast<tgnccl_result_t>(t.init_result) : tgnccl_success;
}

template <int Which>
struct Transport {
  static tgnccl_result_t init(tgnccl_logger_t) { return first_result(Which); }
  static tgnccl_result_t init10(tgnccl_logger_t, tgnccl_profiler_callback_t) { return first_result(Which); }
  static tgnccl_result_t init11(void** ctx, uint64_t, tgnccl_comm_config_t* config, tgnccl_logger_t,
                                tgnccl_profiler_callback_t) {
    const tgnccl_result_t result = first_result(Which);
    transport(Which).traffic_class = config->traffic_class;
    // IB writes a context of its own, Socket leaves NULL.
    if (result == tgnccl_success && Which == 0) *ctx = &mock.ib;
    return result;
  }
  static tgnccl_result_t devices(int* count) {
    *count = transport(Which).devices;
    return tgnccl_success;
  }
  static tgnccl_result_t properties(int dev, Properties* out) { return fill<Table>(dev, out); }
  // Templates, so that members which this version does not have are left out.
  template <typename T, typename P>
  static tgnccl_result_t fill(int dev, P* out) {
    constexpr int api = topoguard::Api<T>::kVersion;
    if (dev < 0 || dev >= 4) return tgnccl_internal_error;
    out->name = const_cast<char*>(transport(Which).names[dev]);
    out->pci_path = nullptr;
    out->guid = static_cast<uint64_t>(dev);
    out->ptr_support = TGNCCL_PTR_HOST;
    out->speed = 10000;
    out->port = 0;
    out->latency = 0;
    out->max_comms = 65536;
    out->max_recvs = 1;
    if constexpr (api >= 7) {
      out->device_type = 0;
      out->device_version = 0;
    }
    if constexpr (api >= 8) out->reg_is_global = 0;
    if constexpr (api >= 9) {
      // vprops and, before 2.28, max_coll_bytes stay unset, as stock Socket does it.
      out->force_flush = 0;
      out->max_p2p_bytes = 1;
    }
    if constexpr (api >= 11) {
      out->max_coll_bytes = 1;
      out->max_multi_request_size = 1;
    }
    if constexpr (api >= 12) out->rail_id = out->plane_id = -1;
    if (mock.overlong_properties) std::memset(reinterpret_cast<char*>(out) + sizeof *out, 0x33, 16);
    return tgnccl_success;
  }
  static tgnccl_result_t listened(void* ctx, void* handle, void** comm) {
    const MockConnections& how = mock.connections;
    ++transport(Which).listens;
    transport(Which).last_context = ctx;
    if (how.address[0] != 0) std::memcpy(handle, how.address, sizeof how.address);
    std::memset(handle, 0xEE, static_cast<std::size_t>(how.handle_bytes));
    *comm = &mock;
    return tgnccl_success;
  }
  static tgnccl_result_t accepted(void** comm) {
    MockConnections& how = mock.connections;
    ++how.accepts;
    *comm = nullptr;
    if (how.accept_polls < 0 || (how.accept_polls > 0 && how.accept_polls-- > 0)) return tgnccl_success;
    *comm = &mock.socket;
    return tgnccl_success;
  }
  static tgnccl_result_t accept6(void*, void** comm) { return accepted(comm); }
  static tgnccl_result_t accept7(void*, void** comm, tgnccl_device_handle_t**) { return accepted(comm); }
  static tgnccl_result_t close(void*) {
    ++mock.connections.closes;
    return tgnccl_success;
  }
  static tgnccl_result_t close_listener(void*) {
    ++mock.connections.closed_listeners;
    return tgnccl_success;
  }
  static tgnccl_result_t connected(void* ctx, void* handle, void** comm, int traffic_class = -2) {
    MockTransport& t = transport(Which);
    ++t.connects;
    t.last_context = ctx;
    t.last_handle = handle;
    if (MOCK_API < 11) t.traffic_class = traffic_class;
    MockConnections& how = mock.connections;
    std::memcpy(how.seen, handle, sizeof how.seen);
    *comm = nullptr;
    if (how.connect_result != 0) return static_cast<tgnccl_result_t>(how.connect_result);
    if (how.connect_polls < 0 || (how.connect_polls > 0 && how.connect_polls-- > 0)) return tgnccl_success;
    *comm = &mock;
    return tgnccl_success;
  }
  static tgnccl_result_t listen(int, void* handle, void** comm) { return listened(nullptr, handle, comm); }
  static tgnccl_result_t listen11(void* ctx, int, void* handle, void** comm) { return listened(ctx, handle, comm); }
  static tgnccl_result_t connect6(int, void* handle, void** comm) { return connected(nullptr, handle, comm); }
  static tgnccl_result_t connect7(int, void* handle, void** comm, tgnccl_device_handle_t**) {
    return connected(nullptr, handle, comm);
  }
  static tgnccl_result_t connect10(int, tgnccl_comm_config_t* config, void* handle, void** comm,
                                   tgnccl_device_handle_t**) {
    return connected(nullptr, handle, comm, config != nullptr ? config->traffic_class : -2);
  }
  static tgnccl_result_t connect11(void* ctx, int, void* handle, void** comm, tgnccl_device_handle_t**) {
    return connected(ctx, handle, comm);
  }
  static tgnccl_result_t finalize(void* ctx) {
    ++transport(Which).finalizes;
    transport(Which).last_context = ctx;
    return tgnccl_success;
  }
  static tgnccl_result_t attr(void* ctx, tgnccl_net_attr_t*) {
    transport(Which).last_context = ctx;
    return tgnccl_success;
  }
};

template <int Which, typename Net>
constexpr Net make_table(const char* name) {
  using T = Transport<Which>;
  constexpr int api = topoguard::Api<Net>::kVersion;
  Net t{};
  t.name = name;
  if constexpr (api >= 11) {
    t.init = &T::init11;
    t.listen = &T::listen11;
    t.connect = &T::connect11;
    t.finalize = &T::finalize;
    if (Which == 0) t.set_net_attr = &T::attr;
  } else {
    if constexpr (api == 10) {
      t.init = &T::init10;
      t.connect = &T::connect10;
    } else {
      t.init = &T::init;
      if constexpr (api >= 7)
        t.connect = &T::connect7;
      else
        t.connect = &T::connect6;
    }
    t.listen = &T::listen;
  }
  t.devices = &T::devices;
  t.get_properties = &T::properties;
  if constexpr (api >= 7)
    t.accept = &T::accept7;
  else
    t.accept = &T::accept6;
  t.reg_mr = &Stub<&Net::reg_mr, Which>::call;
  if (Which == 0) t.reg_mr_dma_buf = &Stub<&Net::reg_mr_dma_buf, Which>::call;
  t.dereg_mr = &Stub<&Net::dereg_mr, Which>::call;
  t.isend = &Stub<&Net::isend, Which>::call;
  t.irecv = &Stub<&Net::irecv, Which>::call;
  t.iflush = &Stub<&Net::iflush, Which>::call;
  t.test = &Stub<&Net::test, Which>::call;
  t.close_send = &T::close;
  t.close_recv = &T::close;
  t.close_listen = &T::close_listener;
  if constexpr (api >= 9)
    if (Which == 0) t.make_vdevice = &Stub<&Net::make_vdevice, Which>::call;
  return t;
}

void log(tgnccl_log_level_t level, unsigned long, const char*, int, const char* format, ...) {
  const std::size_t used = std::strlen(mock.log);
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(mock.log + used, sizeof mock.log - used - 1, format, arguments);
  va_end(arguments);
  std::strncat(mock.log, "\n", sizeof mock.log - std::strlen(mock.log) - 1);
  ++mock.levels[level];
}

tgnccl_result_t gin_init(void** ctx, uint64_t, tgnccl_logger_t) {
  *ctx = &ncclGinIbProxy;
  return tgnccl_success;
}
tgnccl_result_t gin_devices(int* count) {
  *count = 1;
  return tgnccl_success;
}
tgnccl_result_t gin_finalize(void*) { return tgnccl_success; }

}  // namespace

extern "C" {
Table ncclNetIb = make_table<0, Table>("IB");
Table ncclNetSocket = make_table<1, Table>("Socket");
#if MOCK_TWINS
Table other_socket = make_table<1, Table>("Socket");
#endif
tgnccl_gin_v11_t ncclGinIbProxy = {"GIN_IB_PROXY", gin_init, gin_devices, nullptr, nullptr,     nullptr, nullptr,
                                   nullptr,        nullptr,  nullptr,     nullptr, nullptr,     nullptr, nullptr,
                                   nullptr,        nullptr,  nullptr,     nullptr, gin_finalize};
}

MOCK_EXPORT tgnccl_result_t ncclGetVersion(int* code) {
  *code = mock.version_code;
  return tgnccl_success;
}
MOCK_EXPORT tgnccl_logger_t mock_logger() { return &log; }
MOCK_EXPORT Mock* mock_access() {
  if (mock.table_bytes == 0) {
    mock.version_code = MOCK_VERSION;
    mock.socket.devices = 1;
    mock.ib.traffic_class = mock.socket.traffic_class = -2;
    mock.socket.names[0] = "eth0";
    mock.ib.names[0] = "mlx5_0";
    mock.ib_table = &ncclNetIb;
    mock.socket_table = &ncclNetSocket;
#if MOCK_TWINS
    mock.socket_table = &other_socket;
#endif
    mock.gin_table = &ncclGinIbProxy;
    mock.table_bytes = sizeof(Table);
  }
  return &mock;
}
