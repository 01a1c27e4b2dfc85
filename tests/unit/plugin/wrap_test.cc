// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "scene.h"

using namespace topoguard;

namespace {

// Every version, called as its own release calls it.
template <typename Table>
void wraps(Table& exported, const char* release) {
  constexpr int api = Api<Table>::kVersion;
  for (const bool with_ib : {false, true}) {
    INFO("v" << api << (with_ib ? " IB" : " Socket"));
    const Child child = in_child([&] {
      LoadedMock nccl(release);
      Scene scene;
      if (with_ib) {
        scene.ib("mlx5_0");
        nccl.mock->ib.devices = 1;
      }
      EXPECT(std::string(exported.name) == "topoguard");
      void* context = nullptr;
      EXPECT(call_init(exported, nccl.logger, &context, 5) == tgnccl_success);
      EXPECT(device_count(exported) == 1);
      EXPECT(std::string(exported.name) == "topoguard");
      MockTransport& used = with_ib ? nccl.mock->ib : nccl.mock->socket;
      EXPECT(used.inits == 1);
      EXPECT((with_ib ? nccl.mock->socket : nccl.mock->ib).inits == 0);

      const auto& stock = *static_cast<const Table*>(with_ib ? nccl.mock->ib_table : nccl.mock->socket_table);
      EXPECT(exported.isend == stock.isend && exported.irecv == stock.irecv);
      EXPECT(exported.iflush == stock.iflush && exported.test == stock.test);
      EXPECT(exported.isend != nullptr);
      EXPECT((exported.reg_mr_dma_buf != nullptr) == (stock.reg_mr_dma_buf != nullptr));
      EXPECT((exported.reg_mr_dma_buf != nullptr) == with_ib);
      if constexpr (api >= 7) EXPECT(exported.get_device_mr == nullptr && exported.irecv_consumed == nullptr);
      if constexpr (api >= 9) EXPECT((exported.make_vdevice != nullptr) == with_ib);
      if constexpr (api >= 11) EXPECT((exported.set_net_attr != nullptr) == with_ib);

      typename Api<Table>::Properties properties;
      std::memset(&properties, 0x77, sizeof properties);
      EXPECT(exported.get_properties(0, &properties) == tgnccl_success);
      EXPECT(std::string(properties.name) == (with_ib ? "mlx5_0" : "eth0"));
      if constexpr (api >= 9) {
        EXPECT(properties.vprops.ndevs == 1 && properties.vprops.devs[0] == 0);
        if (api < 11) EXPECT(properties.max_coll_bytes == 0);
      }

      char handle[128] = {};
      void* comm = nullptr;
      EXPECT(call_listen(exported, context, handle, &comm) == tgnccl_success && comm == nccl.mock);
      EXPECT(call_connect(exported, context, handle, &comm) == tgnccl_success);
      EXPECT(used.listens == 1 && used.connects == 1 && used.last_handle == handle);
      if (api >= 10) EXPECT(used.traffic_class == 5);
      EXPECT(exported.close_listen(comm) == tgnccl_success);
      if constexpr (api >= 11) {
        EXPECT(context != nullptr);
        // The transport gets the context that it made itself; stock Socket's is NULL.
        EXPECT(used.last_context == (with_ib ? static_cast<void*>(&nccl.mock->ib) : nullptr));
        EXPECT(exported.finalize(context) == tgnccl_success && used.finalizes == 1);
        EXPECT(exported.finalize(context) == tgnccl_success && used.finalizes == 1);
      }
    });
    CHECK_CHILD(child);
    CHECK(child.err == "");
  }
}

}  // namespace

TEST_CASE("v6 wraps NCCL 2.18's own transports") { wraps(ncclNetPlugin_v6, "2.18"); }
TEST_CASE("v7 wraps NCCL 2.19's own transports") { wraps(ncclNetPlugin_v7, "2.19"); }
TEST_CASE("v8 wraps NCCL 2.22's own transports") { wraps(ncclNetPlugin_v8, "2.22"); }
TEST_CASE("v9 wraps NCCL 2.24's own transports") { wraps(ncclNetPlugin_v9, "2.24"); }
TEST_CASE("v10 wraps NCCL 2.26's own transports") { wraps(ncclNetPlugin_v10, "2.26"); }
TEST_CASE("v11 wraps NCCL 2.28's own transports") { wraps(ncclNetPlugin_v11, "2.28"); }
TEST_CASE("v12 wraps NCCL 2.30's own transports") { wraps(ncclNetPlugin_v12, "2.30"); }
TEST_CASE("a stripped NCCL is wrapped as well") { wraps(ncclNetPlugin_v11, "stripped_2.28"); }

TEST_CASE("IB without a device, also where only its second init() succeeds: Socket") {
  for (const int result : {0, 2}) {
    const Child child = in_child([&] {
      LoadedMock nccl("2.28");
      Scene scene;
      scene.ib("mlx5_0");
      nccl.mock->ib = {0, result, true, 0, 0, 0, 0, {}, nullptr, nullptr, {}, 0};
      void *first = nullptr, *second = nullptr;
      EXPECT(call_init(ncclNetPlugin_v11, nccl.logger, &first) == tgnccl_success);
      EXPECT(call_init(ncclNetPlugin_v11, nccl.logger, &second) == tgnccl_success);
      EXPECT(first != second);
      EXPECT(ncclNetPlugin_v11.isend == static_cast<const tgnccl_net_v11_t*>(nccl.mock->socket_table)->isend);
      EXPECT(nccl.mock->socket.inits == 2);
    });
    CHECK_CHILD(child);
    CHECK(has(child.err, "slow-fallback"));
  }
}

TEST_CASE("finalize() tolerates anything, also after an init() that failed") {
  const Child child = in_child([] {
    LoadedMock nccl("2.28");
    Scene scene;
    int stranger = 0;
    for (void* context : {static_cast<void*>(nullptr), static_cast<void*>(&stranger), reinterpret_cast<void*>(0x10)})
      EXPECT(ncclNetPlugin_v11.finalize(context) == tgnccl_success);
    nccl.mock->socket.devices = 0;
    void* context = &stranger;
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger, &context) != tgnccl_success);
    EXPECT(context == nullptr);
    const int balanced = nccl.mock->socket.finalizes;
    EXPECT(ncclNetPlugin_v11.finalize(context) == tgnccl_success);
    EXPECT(nccl.mock->socket.finalizes == balanced);
    Handle handle{};
    void* comm = nullptr;
    EXPECT(call_listen(ncclNetPlugin_v11, &stranger, handle.data(), &comm) == tgnccl_internal_error);
  });
  CHECK_CHILD(child);
}

TEST_CASE("after a first success init() never fails: the one communicator bears it") {
  const Child child = in_child([] {
    LoadedMock nccl("2.28");
    Scene scene;
    void *good = nullptr, *bad = nullptr, *comm = nullptr;
    Handle handle{};
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger, &good) == tgnccl_success);
    nccl.mock->socket.init_result = tgnccl_system_error;
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger, &bad) == tgnccl_success);
    EXPECT(call_listen(ncclNetPlugin_v11, bad, handle.data(), &comm) == tgnccl_system_error);
    EXPECT(call_connect(ncclNetPlugin_v11, bad, handle.data(), &comm) == tgnccl_system_error);
    EXPECT(call_listen(ncclNetPlugin_v11, good, handle.data(), &comm) == tgnccl_success);
    EXPECT(ncclNetPlugin_v11.finalize(bad) == tgnccl_success && nccl.mock->socket.finalizes == 0);
  });
  CHECK_CHILD(child);
  CHECK(has(child.err, "base-init-failed"));
}

TEST_CASE("NCCL closed and opened elsewhere: wrapped anew, no pointer into the old one") {
  for (const bool destroyed : {true, false}) {
    const Child child = in_child([&] {
      Scene scene;
      void* context = nullptr;
      auto old = std::make_unique<LoadedMock>("2.28");
      EXPECT(call_init(ncclNetPlugin_v11, old->logger, &context) == tgnccl_success);
      // Without finalize(): a program that closed NCCL and forgot its communicators.
      if (destroyed) ncclNetPlugin_v11.finalize(context);
      const auto* old_slot = reinterpret_cast<void*>(ncclNetPlugin_v11.isend);
      old.reset();
      LoadedMock fresh("stripped_2.28");
      EXPECT(call_init(ncclNetPlugin_v11, fresh.logger, &context) == tgnccl_success);
      const auto& stock = *static_cast<const tgnccl_net_v11_t*>(fresh.mock->socket_table);
      EXPECT(ncclNetPlugin_v11.isend == stock.isend);
      EXPECT(ncclNetPlugin_v11.isend(nullptr, nullptr, 0, 0, nullptr, nullptr, nullptr) == tgnccl_success);
      Handle handle{};
      void* comm = nullptr;
      EXPECT(call_listen(ncclNetPlugin_v11, context, handle.data(), &comm) == tgnccl_success &&
             fresh.mock->socket.listens == 1);
      (void)old_slot;
      EXPECT(scene.collected == 1);
    });
    CHECK_CHILD(child);
  }
}

TEST_CASE("two NCCLs in one process: the second one of a version is declined, of another version wrapped") {
  const Child child = in_child([] {
    Scene scene;
    LoadedMock first("2.28"), second("stripped_2.28"), other("2.26");
    void *context = nullptr, *none = nullptr, *comm = nullptr;
    Handle handle{};
    EXPECT(call_init(ncclNetPlugin_v11, first.logger, &context) == tgnccl_success);
    EXPECT(call_init(ncclNetPlugin_v11, second.logger, &none) != tgnccl_success);
    EXPECT(second.mock->socket.inits == 0);
    EXPECT(ncclNetPlugin_v11.isend == static_cast<const tgnccl_net_v11_t*>(first.mock->socket_table)->isend);
    EXPECT(call_init(ncclNetPlugin_v10, other.logger) == tgnccl_success);
    EXPECT(ncclNetPlugin_v10.isend == static_cast<const tgnccl_net_v10_t*>(other.mock->socket_table)->isend);
    EXPECT(call_listen(ncclNetPlugin_v11, context, handle.data(), &comm) == tgnccl_success &&
           first.mock->socket.listens == 1);
    // The first one done with, the second may come.
    ncclNetPlugin_v11.finalize(context);
    EXPECT(call_init(ncclNetPlugin_v11, second.logger, &none) == tgnccl_success && second.mock->socket.inits == 1);
  });
  CHECK_CHILD(child);
  CHECK(has(child.err, "second-nccl"));
}

TEST_CASE("called in another version than NCCL's own: declined, survivably") {
  const Child child = in_child([] {
    Scene scene;
    LoadedMock nccl("2.28");
    EXPECT(call_init(ncclNetPlugin_v12, nccl.logger) != tgnccl_success);
    // 2.28 would call the NULL finalize slot of an older table after a failed init(): success without devices instead.
    EXPECT(call_init(ncclNetPlugin_v10, nccl.logger) == tgnccl_success);
    EXPECT(device_count(ncclNetPlugin_v10) == 0);
    EXPECT(nccl.mock->socket.inits == 0 && nccl.mock->ib.inits == 0);
    nccl.mock->version_code = 23300;
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger) != tgnccl_success);
  });
  CHECK_CHILD(child);
  CHECK(has(child.err, "steering-alone"));
}

TEST_CASE("a transport that writes more than its version has is not wrapped") {
  const Child child = in_child([] {
    Scene scene;
    LoadedMock nccl("2.28");
    nccl.mock->overlong_properties = true;
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger) != tgnccl_success);
    EXPECT(nccl.mock->socket.inits == nccl.mock->socket.finalizes);
  });
  CHECK_CHILD(child);
}

TEST_CASE("GIN is NCCL's own while its IB is wrapped, and absent otherwise") {
  const Child child = in_child([] {
    Scene scene;
    LoadedMock nccl("2.28");
    void *gin = nullptr, *context = nullptr;
    EXPECT(ncclGinPlugin_v11.init(&gin, 7, nccl.logger) != tgnccl_success);
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger, &context) == tgnccl_success);  // Socket
    EXPECT(ncclGinPlugin_v11.init(&gin, 7, nccl.logger) != tgnccl_success);
    ncclNetPlugin_v11.finalize(context);
    scene.ib("mlx5_0");
    replace_session_parts([&] {
      SessionParts parts;
      parts.collect = [](const Sources&, const CollectOptions&) { return HostSnapshot(); };
      parts.decide = [&](const HostSnapshot&, const Policy&) { return scene.decision; };
      return parts;
    }());
    nccl.mock->ib.devices = 1;
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger, &context) == tgnccl_success);
    EXPECT(ncclGinPlugin_v11.init(&gin, 7, nccl.logger) == tgnccl_success && gin == nccl.mock->gin_table);
    void* collnet = nullptr;
    EXPECT(ncclCollNetPlugin_v11.init(&collnet, 7, nccl.logger) != tgnccl_success);
  });
  CHECK_CHILD(child);
}
