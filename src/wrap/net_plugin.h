// SPDX-License-Identifier: Apache-2.0
// One exported net table: make_net_table<&ncclNetPlugin_v11>() is its static content, NetPlugin its control slots.
// Data slots forward until init() has found the wrapped transport; then they *are* that transport's own functions.
// NCCL uses a table of its native version in place and reads a slot at every call; for an older version it copies the
// slots right after init(). Both see what init() wrote. No exception leaves these functions.
#pragma once

#include <cstring>
#include <optional>
#include <type_traits>

#include "core/guard.h"
#include "wrap/api.h"
#include "wrap/counted.h"
#include "wrap/gin.h"
#include "wrap/net_core.h"

namespace topoguard {

/// Statically valid: NCCL reads it before init() and prints it in "via NET/topoguard/...".
inline constexpr const char* kPluginName = "topoguard";

template <auto* Exported>
class NetPlugin {
 public:
  using Table = std::remove_pointer_t<decltype(Exported)>;
  using Properties = typename Api<Table>::Properties;
  static constexpr int kApi = Api<Table>::kVersion;

  // init(), by generation
  static tgnccl_result_t init_process(tgnccl_logger_t logger) {
    return open(
        logger, [=](const Table* table, void**) { return call_init(table, logger); }, nullptr, 0);
  }
  static tgnccl_result_t init_profiled(tgnccl_logger_t logger, tgnccl_profiler_callback_t profiler) {
    return open(
        logger, [=](const Table* table, void**) { return call_init(table, logger, profiler); }, nullptr, 0);
  }
  static tgnccl_result_t init_communicator(void** context, uint64_t comm_id, tgnccl_comm_config_t* config,
                                           tgnccl_logger_t logger, tgnccl_profiler_callback_t profiler) {
    void* ignored = nullptr;
    return open(
        logger,
        [=](const Table* table, void** base) { return call_init(table, base, comm_id, config, logger, profiler); },
        context != nullptr ? context : &ignored, comm_id);
  }

  static tgnccl_result_t devices(int* count) {
    const Table* table = wrapped();
    if (table != nullptr) return table->devices(count);
    // Some releases ask although we declined (see NetCore::decline): no device disables us.
    *count = 0;
    return tgnccl_success;
  }

  static tgnccl_result_t get_properties(int device, Properties* properties) {
    const Table* table = wrapped();
    return table != nullptr ? ask_properties(table, device, properties) : tgnccl_internal_error;
  }

  static tgnccl_result_t listen(int device, void* handle, void** comm) {
    return core().refuses() ? core().refuse_connection() : core().connections().listen(0, device, handle, comm, [=] {
      return Through<&Table::listen>::call(device, handle, comm);
    });
  }
  static tgnccl_result_t listen_in(void* context, int device, void* handle, void** comm) {
    return in_context(context, [&](const Table* table, const Context& known) {
      if (core().refuses()) return core().refuse_connection();
      return core().connections().listen(known.communicator, device, handle, comm,
                                         [&] { return table->listen(known.base, device, handle, comm); });
    });
  }

  // connect() is polled with the same handle memory, in which the transport keeps its progress: the original pointer.
  static tgnccl_result_t connect_plain(int device, void* handle, void** comm) {
    return connect(device, handle, comm, [=] { return Through<&Table::connect>::call(device, handle, comm); });
  }
  static tgnccl_result_t connect_offload(int device, void* handle, void** comm, tgnccl_device_handle_t** offload) {
    return connect(device, handle, comm, [=] { return Through<&Table::connect>::call(device, handle, comm, offload); });
  }
  static tgnccl_result_t connect_config(int device, tgnccl_comm_config_t* config, void* handle, void** comm,
                                        tgnccl_device_handle_t** offload) {
    return connect(device, handle, comm,
                   [=] { return Through<&Table::connect>::call(device, config, handle, comm, offload); });
  }
  static tgnccl_result_t connect_in(void* context, int device, void* handle, void** comm,
                                    tgnccl_device_handle_t** offload) {
    return in_context(context, [&](const Table* table, const Context& known) {
      if (core().refuses()) return core().refuse_connection();
      return core().connections().connect(known.communicator, device, handle, comm,
                                          [&] { return table->connect(known.base, device, handle, comm, offload); });
    });
  }

  template <typename... Offload>
  static tgnccl_result_t accept(void* listen_comm, void** comm, Offload... offload) {
    return core().connections().accept(listen_comm, comm,
                                       [=] { return Through<&Table::accept>::call(listen_comm, comm, offload...); });
  }

  template <typename Size>
  static tgnccl_result_t reg_mr(void* comm, void* data, Size size, int type, void** mhandle) {
    const tgnccl_result_t result = Through<&Table::reg_mr>::call(comm, data, size, type, mhandle);
    core().connections().registered(comm, (type & TGNCCL_PTR_CUDA) != 0 ? record::Memory::cuda : record::Memory::host,
                                    result);
    return result;
  }
  static tgnccl_result_t reg_mr_dma_buf(void* comm, void* data, size_t size, int type, uint64_t offset, int fd,
                                        void** mhandle) {
    const tgnccl_result_t result = Through<&Table::reg_mr_dma_buf>::call(comm, data, size, type, offset, fd, mhandle);
    core().connections().registered(comm, record::Memory::dmabuf, result);
    return result;
  }

  // Looked up before the transport frees it: its address can be another connection's right after.
  static tgnccl_result_t close_send(void* comm) {
    core().connections().closing(comm);
    return Through<&Table::close_send>::call(comm);
  }
  static tgnccl_result_t close_recv(void* comm) {
    core().connections().closing(comm);
    return Through<&Table::close_recv>::call(comm);
  }
  static tgnccl_result_t close_listen(void* comm) {
    core().connections().closing_listener(comm);
    return Through<&Table::close_listen>::call(comm);
  }

  static tgnccl_result_t set_net_attr(void* context, tgnccl_net_attr_t* attr) {
    return in_context(context, [&](const Table* table, const Context& known) {
      return table->set_net_attr != nullptr ? table->set_net_attr(known.base, attr) : tgnccl_success;
    });
  }

  // Tolerates any pointer: some releases call it after a failed init().
  static tgnccl_result_t finalize(void* context) {
    return guarded(tgnccl_success, [&] {
      const auto known = core().contexts().remove(context);
      const Table* table = wrapped();
      if (known) core().closed(*known);
      if (!known || known->failure != tgnccl_success || table == nullptr || table->finalize == nullptr)
        return tgnccl_success;
      return table->finalize(known->base);
    });
  }

 private:
  static const Table* wrapped() { return Wrapped<Table>::table.load(std::memory_order_acquire); }

  // Never destroyed: NCCL may call after static destructors ran.
  static NetCore& core() {
    static auto* state = new NetCore(kApi);
    return *state;
  }

  template <typename... Arguments>
  static tgnccl_result_t call_init(const Table* table, Arguments... arguments) {
    return table->init(arguments...);
  }

  template <typename Call>
  static tgnccl_result_t connect(int device, void* handle, void** comm, Call call) {
    return core().refuses() ? core().refuse_connection() : core().connections().connect(0, device, handle, comm, call);
  }

  static DeviceAnswer ask_name(const void* table, int device) {
    DeviceAnswer answer;
    answer.name.number = device;
    Properties properties;
    if (ask_properties(static_cast<const Table*>(table), device, &properties) != tgnccl_success) return answer;
    if (properties.name != nullptr) answer.name.name = properties.name;
    // NCCL counts an HCA's port from 1, and a netdev has none.
    answer.name.port = properties.port;
    answer.name.speed_mbps = properties.speed;
    answer.pointers = properties.ptr_support;
    return answer;
  }

  static tgnccl_result_t ask_properties(const Table* table, int device, Properties* properties) {
    // Stock transports leave members unset: Socket vProps before 2.29, both maxCollBytes before 2.28.
    std::memset(properties, 0, sizeof *properties);
    if constexpr (kApi >= 9) properties->vprops = {1, {device}};
    const tgnccl_result_t result = table->get_properties(device, properties);
    if constexpr (kApi >= 9)
      if (result == tgnccl_success && properties->vprops.ndevs <= 0) properties->vprops = {1, {device}};
    return result;
  }

  template <typename Init>
  static tgnccl_result_t open(tgnccl_logger_t logger, Init init, void** context, std::uint64_t communicator) {
    // What init() needs besides is small: where there was no memory for it once, a second try is worth more than a
    // plugin that NCCL disables for the whole process.
    for (int attempt = 0; attempt < 2; ++attempt) {
      const auto result =
          guarded(std::optional<tgnccl_result_t>(), [&] { return open_once(logger, init, context, communicator); });
      if (result) return *result;
    }
    return tgnccl_internal_error;
  }

  template <typename Init>
  static std::optional<tgnccl_result_t> open_once(tgnccl_logger_t logger, const Init& init, void** context,
                                                  std::uint64_t communicator) {
    NetHooks hooks;
    hooks.init = [&](const void* table, void** base) { return init(static_cast<const Table*>(table), base); };
    hooks.devices = [](const void* table, int* count) { return static_cast<const Table*>(table)->devices(count); };
    hooks.properties = [](const void* table, int device, void* properties) {
      return static_cast<const Table*>(table)->get_properties(device, static_cast<Properties*>(properties));
    };
    if constexpr (kApi >= 11)
      hooks.finalize = [](const void* table, void* base) {
        const auto* typed = static_cast<const Table*>(table);
        if (typed->finalize != nullptr) typed->finalize(base);
      };
    hooks.take = [](const Base& base, bool counted) { take(base, counted); };
    hooks.ask = &ask_name;
    return core().open(logger, hooks, context, communicator);
  }

  template <typename Call>
  static tgnccl_result_t in_context(void* context, Call call) {
    return guarded(tgnccl_internal_error, [&] {
      const auto known = core().contexts().find(context);
      const Table* table = wrapped();
      if (!known || table == nullptr) return tgnccl_internal_error;
      return known->failure != tgnccl_success ? known->failure : call(table, *known);
    });
  }

  // Other communicators' threads may be reading these slots: whole-word stores, and of the same value while the same
  // library is wrapped.
  template <auto Slot>
  static void patch(const Table* table) {
    __atomic_store_n(&(Exported->*Slot), table != nullptr ? table->*Slot : &Through<Slot>::call, __ATOMIC_RELEASE);
  }

  static void look(watch::Transfers::Slot& slot) { core().connections().look(slot); }

  template <auto Slot, auto Function>
  static void count(const Table* table) {
    if (table->*Slot == nullptr) return patch<Slot>(table);
    Behind<Slot>::set(table->*Slot);
    __atomic_store_n(&(Exported->*Slot), Function, __ATOMIC_RELEASE);
  }

  // A Base without a table puts the forwarding slots back.
  static void take(const Base& base, bool counted) {
    const auto* table = static_cast<const Table*>(base.table);
    Wrapped<Table>::table.store(table, std::memory_order_release);
    using CollNet = typename Api<Table>::CollNet;
    Wrapped<CollNet>::table.store(static_cast<const CollNet*>(base.collnet), std::memory_order_release);
    if (counted && table != nullptr) {
      count<&Table::isend, &CountedSend<&Table::isend>::call>(table);
      count<&Table::irecv, &CountedReceive<&Table::irecv>::call>(table);
      count<&Table::iflush, &CountedFlush<&Table::iflush>::call>(table);
      count<&Table::test, &CountedTest<&Table::test, &look>::call>(table);
    } else {
      patch<&Table::isend>(table);
      patch<&Table::irecv>(table);
      patch<&Table::iflush>(table);
      patch<&Table::test>(table);
    }
    // A control slot, but one that tells by being there.
    auto* dma_buf = table == nullptr || table->reg_mr_dma_buf != nullptr ? &NetPlugin::reg_mr_dma_buf : nullptr;
    __atomic_store_n(&Exported->reg_mr_dma_buf, dma_buf, __ATOMIC_RELEASE);
    if constexpr (kApi >= 7) {
      patch<&Table::get_device_mr>(table);
      patch<&Table::irecv_consumed>(table);
    }
    if constexpr (kApi >= 9) patch<&Table::make_vdevice>(table);
    if constexpr (kApi >= 11) {
      auto* attr = table == nullptr || table->set_net_attr != nullptr ? &NetPlugin::set_net_attr : nullptr;
      __atomic_store_n(&Exported->set_net_attr, attr, __ATOMIC_RELEASE);
    }
    if constexpr (kApi == 11) use_gin(static_cast<const tgnccl_gin_v11_t*>(base.gin));
  }
};

template <auto* Exported>
constexpr auto make_net_table() {
  using Plugin = NetPlugin<Exported>;
  using Table = typename Plugin::Table;
  Table table{};
  table.name = kPluginName;
  table.devices = &Plugin::devices;
  table.get_properties = &Plugin::get_properties;
  if constexpr (Plugin::kApi >= 11) {
    table.init = &Plugin::init_communicator;
    table.listen = &Plugin::listen_in;
    table.connect = &Plugin::connect_in;
    table.finalize = &Plugin::finalize;
    table.set_net_attr = &Plugin::set_net_attr;
  } else {
    if constexpr (Plugin::kApi == 10)
      table.init = &Plugin::init_profiled;
    else
      table.init = &Plugin::init_process;
    table.listen = &Plugin::listen;
    if constexpr (Plugin::kApi == 10)
      table.connect = &Plugin::connect_config;
    else if constexpr (Plugin::kApi >= 7)
      table.connect = &Plugin::connect_offload;
    else
      table.connect = &Plugin::connect_plain;
  }
  table.accept = &Plugin::accept;
  table.reg_mr = &Plugin::reg_mr;
  table.reg_mr_dma_buf = &Plugin::reg_mr_dma_buf;
  table.dereg_mr = &Through<&Table::dereg_mr>::call;
  table.isend = &Through<&Table::isend>::call;
  table.irecv = &Through<&Table::irecv>::call;
  table.iflush = &Through<&Table::iflush>::call;
  table.test = &Through<&Table::test>::call;
  table.close_send = &Plugin::close_send;
  table.close_recv = &Plugin::close_recv;
  table.close_listen = &Plugin::close_listen;
  if constexpr (Plugin::kApi >= 7) {
    table.get_device_mr = &Through<&Table::get_device_mr>::call;
    table.irecv_consumed = &Through<&Table::irecv_consumed>::call;
  }
  if constexpr (Plugin::kApi >= 9) table.make_vdevice = &Through<&Table::make_vdevice>::call;
  return table;
}

}  // namespace topoguard
