// SPDX-License-Identifier: Apache-2.0
// Every older version as every newer one, field by field; what is right is what NCCL's own layer does
// (src/plugin/net/net_vN.cc).
#include "wrap/adapt.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <utility>

#include "recording.h"

using namespace topoguard;

namespace {

template <int New, int Old>
auto& shown() {
  using Native = typename TablesOf<New>::Net;
  static const auto plugin = RecordingPlugin<Old>::net();
  recorded = {};
  const auto* table = static_cast<const Native*>(adapt_net(&plugin, Old, New));
  REQUIRE(table != nullptr);
  return *table;
}

template <int New>
tgnccl_result_t start(const typename TablesOf<New>::Net& table, void** context, int traffic_class) {
  tgnccl_comm_config_t config = {traffic_class};
  const auto profiler = reinterpret_cast<tgnccl_profiler_callback_t>(0x1000);
  if constexpr (New >= 11)
    return table.init(context, 1, &config, nullptr, profiler);
  else if constexpr (New == 10)
    return table.init(nullptr, profiler);
  else
    return table.init(nullptr);
}

template <int New, int Old>
void properties() {
  PropertiesOf<New> p;
  std::memset(&p, 0x5a, sizeof p);
  const auto& table = shown<New, Old>();
  REQUIRE(table.get_properties(1, &p) == tgnccl_success);
  CHECK(std::string(p.name) == "rec0");
  CHECK(std::string(p.pci_path) == "/sys/devices/rec");
  CHECK(p.guid == 0x1234567890abcdefULL);
  CHECK(p.ptr_support == 7);
  CHECK(p.speed == 400000);
  CHECK(p.port == 3);
  CHECK(p.latency == 1.5F);
  CHECK(p.max_comms == 4096);
  CHECK(p.max_recvs == 8);
  if constexpr (New >= 7) {
    CHECK(p.device_type == (Old >= 7 ? TGNCCL_NET_DEVICE_UNPACK : TGNCCL_NET_DEVICE_HOST));
    CHECK(p.device_version == (Old >= 7 ? 7 : 0));
  }
  if constexpr (New >= 8) CHECK(p.reg_is_global == (Old >= 8 ? 1 : 0));
  if constexpr (New >= 9) {
    CHECK(p.force_flush == (Old >= 9 ? 1 : 0));
    CHECK(p.vprops.ndevs == (Old >= 9 ? 3 : 1));
    CHECK(p.vprops.devs[0] == (Old >= 9 ? 10 : 1));
    if (Old >= 9) CHECK(p.vprops.devs[2] == 12);
    CHECK(p.max_p2p_bytes == (Old >= 9 ? 111 : std::size_t{1} << 30));
    CHECK(p.max_coll_bytes == (Old >= 9 ? 222 : std::size_t{1} << 29));
  }
  if constexpr (New >= 11) CHECK(p.max_multi_request_size == (Old >= 11 ? 5 : 1));
  if constexpr (New >= 12) {
    CHECK(p.rail_id == -1);
    CHECK(p.plane_id == -1);
  }
  CHECK(table.get_properties(-1, &p) == tgnccl_invalid_argument);
}

template <int New, int Old>
void connections() {
  const auto& table = shown<New, Old>();
  void* context = nullptr;
  REQUIRE(start<New>(table, &context, 5) == tgnccl_success);
  CHECK(recorded.inits == 1);
  CHECK((recorded.profiler != nullptr) == (Old >= 10 && New >= 10));
  char handle[128] = {};
  void* comm = nullptr;
  tgnccl_device_handle_t* offload = nullptr;
  tgnccl_comm_config_t config = {5};
  if constexpr (New >= 11) {
    CHECK(table.listen(context, 1, handle, &comm) == tgnccl_success);
    CHECK((recorded.device == 1 && recorded.handle == handle && comm == &recorded));
    CHECK(table.connect(context, 2, handle, &comm, &offload) == tgnccl_success);
  } else {
    CHECK(table.listen(1, handle, &comm) == tgnccl_success);
    CHECK((recorded.device == 1 && recorded.handle == handle && comm == &recorded));
    if constexpr (New == 10)
      CHECK(table.connect(2, &config, handle, &comm, &offload) == tgnccl_success);
    else
      CHECK(table.connect(2, handle, &comm, &offload) == tgnccl_success);
  }
  CHECK((recorded.device == 2 && recorded.handle == handle));
  CHECK(recorded.offload == (Old >= 7 ? &offload : nullptr));
  // The traffic class of the communicator reaches a v10 plugin's connect() and a v11 plugin's init().
  if (Old == 10 || (Old == 11 && New >= 11)) CHECK(recorded.traffic_class == 5);
  CHECK(table.accept(comm, &comm, &offload) == tgnccl_success);
  CHECK(recorded.comm == &recorded);
  if constexpr (New >= 11) {
    if (Old == 11) CHECK(context == &recorded);
    if (Old < 10) CHECK(context == nullptr);
    REQUIRE(table.finalize != nullptr);
    CHECK(table.finalize(context) == tgnccl_success);
    CHECK(recorded.finalizes == (Old >= 11 ? 1 : 0));
    CHECK((table.set_net_attr != nullptr) == (Old >= 11));
    // A plugin older than v11 stays initialised: it has no end.
    CHECK(start<New>(table, &context, 5) == tgnccl_success);
    CHECK(recorded.inits == (Old >= 11 ? 2 : 1));
    CHECK(table.finalize(context) == tgnccl_success);
  }
}

template <int New, int Old>
void data_path() {
  const auto& table = shown<New, Old>();
  char bytes[8] = {};
  void *request = nullptr, *handle = nullptr;
  constexpr std::size_t gigabyte = std::size_t{1} << 30;
  using Size = std::conditional_t<(New >= 9), std::size_t, int>;
  const auto send = [&](Size size) {
    if constexpr (New >= 10)
      return table.isend(&request, bytes, size, 6, nullptr, nullptr, &request);
    else
      return table.isend(&request, bytes, size, 6, nullptr, &request);
  };
  CHECK(send(gigabyte) == tgnccl_success);
  CHECK((recorded.size == gigabyte && recorded.tag == 6 && recorded.data == bytes && request == &recorded));
  void* data[2] = {bytes, bytes + 4};
  Size sizes[2] = {100, 200};
  int tags[2] = {8, 9};
  const auto receive = [&](int n) {
    void* handles[2] = {};
    if constexpr (New >= 10)
      return table.irecv(&request, n, data, sizes, tags, handles, handles, &request);
    else
      return table.irecv(&request, n, data, sizes, tags, handles, &request);
  };
  request = reinterpret_cast<void*>(1);  // "completion may be skipped": v9 and later know it
  CHECK(receive(2) == tgnccl_success);
  CHECK((recorded.parts == 2 && recorded.sizes[0] == 100 && recorded.sizes[1] == 200 && recorded.tag == 9));
  if (New >= 9) CHECK(recorded.request_on_entry == (Old >= 9 ? reinterpret_cast<void*>(1) : nullptr));
  if constexpr (New >= 9 && Old < 9) {
    recorded.size = 0;
    CHECK(send(gigabyte + 1) == tgnccl_internal_error);
    CHECK(recorded.size == 0);
    sizes[1] = gigabyte + 1;
    CHECK(receive(2) == tgnccl_internal_error);
    CHECK(receive(kMostParts + 1) == tgnccl_internal_error);
  }
  CHECK(table.reg_mr(&request, bytes, 4096, 1, &handle) == tgnccl_success);
  CHECK((recorded.size == 4096 && recorded.data == bytes && handle == &recorded));
  if constexpr (New >= 8 && Old < 8)
    CHECK(table.reg_mr(&request, bytes, std::size_t{1} << 31, 1, &handle) == tgnccl_internal_error);
  CHECK(table.reg_mr_dma_buf != nullptr);
  if constexpr (New >= 7) {
    CHECK((table.get_device_mr != nullptr) == (Old >= 7));
    CHECK((table.irecv_consumed != nullptr) == (Old >= 7));
  }
  if constexpr (New >= 9) {
    REQUIRE((table.make_vdevice != nullptr) == (Old >= 9));
    if constexpr (Old >= 9) {
      decltype(PropertiesOf<New>::vprops) parts = {3, {4, 5, 6}};
      int made = -1;
      CHECK(table.make_vdevice(&made, &parts) == tgnccl_success);
      CHECK((made == 77 && recorded.vdevice[0] == 3 && recorded.vdevice[3] == 6));
      if constexpr (New >= 12) {
        parts.ndevs = 5;
        CHECK(table.make_vdevice(&made, &parts) == tgnccl_invalid_usage);
      }
    }
  }
}

template <int New, int Old>
void failing() {
  const auto& table = shown<New, Old>();
  // Another plugin table of the same versions begins anew.
  static const auto other = RecordingPlugin<Old>::net();
  const auto* again = static_cast<const typename TablesOf<New>::Net*>(adapt_net(&other, Old, New));
  CHECK(again == &table);
  void* context = nullptr;
  recorded.init_result = tgnccl_system_error;
  CHECK(start<New>(table, &context, -1) == tgnccl_system_error);
  if (Old < 11) CHECK(context == nullptr);
  recorded.init_result = tgnccl_success;
  CHECK(start<New>(table, &context, -1) == tgnccl_success);
  CHECK(recorded.inits == 2);
  if constexpr (New >= 11) table.finalize(context);
}

template <typename Function>
struct CollNetArgument;
template <typename Sge, typename... Rest>
struct CollNetArgument<tgnccl_result_t (*)(void*, void*, int, Sge*, Rest...)> {
  using Type = Sge*;
};

template <int New, int Old>
void collective() {
  INFO("collnet v" << Old << " as v" << New);
  static const auto plugin = RecordingPlugin<Old>::collnet();
  recorded = {};
  const auto* table = static_cast<const typename TablesOf<New>::CollNet*>(adapt_collnet(&plugin, Old, New));
  REQUIRE(table != nullptr);
  void *context = nullptr, *request = nullptr, *comm = nullptr;
  char handle[128] = {};
  if constexpr (New >= 11) {
    CHECK(table->init(&context, 1, nullptr) == tgnccl_success);
    CHECK(table->listen(context, 1, handle, &comm) == tgnccl_success);
    CHECK(table->finalize(context) == tgnccl_success);
    CHECK(recorded.finalizes == (Old >= 11 ? 1 : 0));
  } else {
    CHECK(table->init(nullptr) == tgnccl_success);
    CHECK(table->listen(1, handle, &comm) == tgnccl_success);
  }
  CHECK((recorded.inits == 1 && recorded.device == 1 && recorded.handle == handle));
  PropertiesOf<New> p;
  std::memset(&p, 0x5a, sizeof p);
  CHECK(table->get_properties(0, &p) == tgnccl_success);
  if constexpr (New >= 7) CHECK(p.device_type == (Old >= 9 ? TGNCCL_NET_DEVICE_UNPACK : TGNCCL_NET_DEVICE_HOST));
  CHECK(table->iallreduce(comm, handle, handle, 1000, 0, 0, nullptr, nullptr, &request) == tgnccl_success);
  CHECK(recorded.size == 1000);
  if constexpr (New >= 9 && Old < 9)
    CHECK(table->iallreduce(comm, handle, handle, (std::size_t{1} << 30) + 1, 0, 0, nullptr, nullptr, &request) ==
          tgnccl_internal_error);
  if constexpr (New >= 8) {
    REQUIRE((table->iallgather != nullptr) == (Old >= 8));
    CHECK(table->ireducescatter == nullptr);  // this plugin has none
    if constexpr (Old >= 8) {
      std::remove_pointer_t<
          typename CollNetArgument<std::remove_const_t<std::remove_reference_t<decltype(table->iallgather)>>>::Type>
          part = {nullptr, handle, 300};
      CHECK(table->iallgather(comm, handle, 1, &part, 0, 0, 0, nullptr, &request) == tgnccl_success);
      CHECK((recorded.parts == 1 && recorded.data == handle && recorded.size == 300));
      const auto two = table->iallgather(comm, handle, 2, &part, 0, 0, 0, nullptr, &request);
      CHECK(two == (Old == 8 && New > 8 ? tgnccl_internal_error : tgnccl_success));
    }
  }
}

// Every pair of an older and a newer version.
template <typename Check, int... Index>
void every_pair(Check check, std::integer_sequence<int, Index...>) {
  const auto one = [&](auto index) {
    constexpr int older = 6 + decltype(index)::value / 7, newer = 6 + decltype(index)::value % 7;
    if constexpr (older < newer) {
      INFO("v" << older << " as v" << newer);
      check(std::integral_constant<int, newer>(), std::integral_constant<int, older>());
    }
  };
  (one(std::integral_constant<int, Index>()), ...);
}
template <typename Check>
void every_pair(Check check) {
  every_pair(check, std::make_integer_sequence<int, 49>());
}

}  // namespace

TEST_CASE("properties of an older plugin") {
  every_pair([](auto newer, auto older) { properties<newer, older>(); });
}

TEST_CASE("init, listen, connect, accept and finalize of an older plugin") {
  every_pair([](auto newer, auto older) { connections<newer, older>(); });
}

TEST_CASE("the data path of an older plugin: sizes, parts, the completion hint, slots that are not there") {
  every_pair([](auto newer, auto older) { data_path<newer, older>(); });
}

TEST_CASE("an older plugin whose init() fails may succeed later") {
  every_pair([](auto newer, auto older) { failing<newer, older>(); });
}

TEST_CASE("an older collective network") {
  every_pair([](auto newer, auto older) { collective<newer, older>(); });
}

TEST_CASE("slots with one signature are the plugin's own functions") {
  const auto plugin = RecordingPlugin<11>::net();
  const auto* shown = static_cast<const tgnccl_net_v12_t*>(adapt_net(&plugin, 11, 12));
  CHECK((shown->isend == plugin.isend && shown->irecv == plugin.irecv && shown->test == plugin.test));
  const auto old = RecordingPlugin<8>::net();
  const auto* newer = static_cast<const tgnccl_net_v11_t*>(adapt_net(&old, 8, 11));
  CHECK((newer->test == old.test && newer->accept == old.accept && newer->reg_mr == old.reg_mr));
}

TEST_CASE("the same version is itself; a newer one, or none at all, is nothing") {
  const auto plugin = RecordingPlugin<8>::net();
  CHECK(adapt_net(&plugin, 8, 8) == &plugin);
  CHECK(adapt_net(&plugin, 8, 7) == nullptr);
  CHECK(adapt_net(&plugin, 5, 8) == nullptr);
  CHECK(adapt_net(&plugin, 13, 13) == nullptr);
  CHECK(adapt_collnet(&plugin, 9, 8) == nullptr);
}
