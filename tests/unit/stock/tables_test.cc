// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cstring>

#include "../mock_nccl/loaded_mock.h"
#include "stock/release.h"
#include "stock/stock_tables.h"
#include "stock/table_shape.h"

using namespace topoguard;

namespace {

struct Release {
  const char* name;
  int api;
};
constexpr Release kReleases[] = {{"2.18", 6},  {"2.19", 7},  {"2.22", 8}, {"2.24", 9},
                                 {"2.26", 10}, {"2.28", 11}, {"2.30", 12}};

NcclObject object_of_mock(const LoadedMock& mock) {
  auto nccl = nccl_object_of(mock.inside());
  REQUIRE(nccl);
  return *nccl;
}

}  // namespace

TEST_CASE("the hidden tables of every release are found by symbol, and in a stripped file by search") {
  for (const auto& release : kReleases)
    for (const bool stripped : {false, true}) {
      INFO(release.name << (stripped ? " stripped" : ""));
      const LoadedMock mock((stripped ? "stripped_" : "") + std::string(release.name));
      const auto nccl = object_of_mock(mock);
      CHECK(nccl.release.rfind(release.name, 0) == 0);
      CHECK(native_api(nccl.version_code) == release.api);
      const auto tables = find_stock_tables(nccl, release.api);
      CHECK(tables.problem == "");
      CHECK(tables.how == (stripped ? "memory search" : "symbol table"));
      CHECK(tables.ib == mock.mock->ib_table);
      CHECK(tables.socket == mock.mock->socket_table);
      CHECK(table_words(release.api) * sizeof(void*) == mock.mock->table_bytes);
    }
}

TEST_CASE("the GIN table is found by symbol only") {
  const LoadedMock mock("2.28"), stripped("stripped_2.28");
  CHECK(find_stock_tables(object_of_mock(mock), 11).gin_ib_proxy == mock.mock->gin_table);
  CHECK(find_stock_tables(object_of_mock(stripped), 11).gin_ib_proxy == nullptr);
}

TEST_CASE("another API version than the release's own is declined, whatever has the same size") {
  for (const auto& release : kReleases) {
    const LoadedMock mock(release.name);
    const auto nccl = object_of_mock(mock);
    for (int api = kOldestApi; api <= kNewestApi; ++api) {
      if (api == release.api) continue;
      const auto tables = find_stock_tables(nccl, api);
      CHECK(tables.socket == nullptr);
      CHECK(tables.ib == nullptr);
      CHECK(tables.problem.find("net API v" + std::to_string(release.api)) != std::string::npos);
    }
  }
}

TEST_CASE("releases that nobody examined are declined by name") {
  const LoadedMock mock("2.30");
  for (const int code : {23300, 21705, 23005 + 100000, 0}) {
    mock.mock->version_code = code;
    const auto nccl = object_of_mock(mock);
    const auto tables = find_stock_tables(nccl, 12);
    CHECK(tables.socket == nullptr);
    CHECK(!tables.problem.empty());
  }
  mock.mock->version_code = 23300;
  CHECK(find_stock_tables(object_of_mock(mock), 12).problem.find("2.33.0") != std::string::npos);
}

TEST_CASE("two tables of one name in a stripped file: nothing is guessed") {
  const LoadedMock twins("twins");
  const auto tables = find_stock_tables(object_of_mock(twins), 11);
  CHECK(tables.socket == nullptr);
  CHECK(!tables.problem.empty());
}

TEST_CASE("a table is proven: name, code pointers, NULL only where allowed") {
  const LoadedMock mock("2.28");
  const auto object = object_of_mock(mock).object;
  auto* slots = static_cast<std::uintptr_t*>(const_cast<void*>(mock.mock->socket_table));
  const auto address = reinterpret_cast<std::uintptr_t>(slots);
  REQUIRE(is_net_table(object, address, 11, "Socket"));
  CHECK(!is_net_table(object, address, 11, "IB"));
  CHECK(!is_net_table(object, address + 1, 11, "Socket"));
  CHECK(!is_net_table(object, address, 13, "Socket"));
  for (std::size_t i = 1; i < table_words(11); ++i) {
    const auto saved = slots[i];
    slots[i] = reinterpret_cast<std::uintptr_t>(slots);  // data, not code
    CHECK(!is_net_table(object, address, 11, "Socket"));
    slots[i] = 0;
    CHECK(is_net_table(object, address, 11, "Socket") == slot_is_optional(i));
    slots[i] = saved;
  }
  const auto name = slots[0];
  slots[0] = ~std::uintptr_t{0};
  CHECK(!is_net_table(object, address, 11, "Socket"));
  slots[0] = name;
  // The end of the last segment: a table that would stick out.
  for (const auto& segment : object.segments)
    if (segment.writable) CHECK(!is_net_table(object, segment.end - 8, 11, "Socket"));
  CHECK(!is_net_table(object, ~std::uintptr_t{7}, 11, "Socket"));
}

TEST_CASE("the poisoned getProperties call tells equal sizes apart") {
  const auto writes = [](std::size_t bytes) {
    return properties_extent([bytes](void* buffer) {
      std::memset(buffer, 0xa5, bytes);  // the first poison's own value
      return true;
    });
  };
  CHECK(writes(0) == 0u);
  CHECK(writes(108) == 108u);
  CHECK(writes(512) == 512u);
  CHECK(properties_extent([](void*) { return false; }) == std::nullopt);
  // The last byte that each version's stock transports write: 47, 55, 59, 95 or 103, 107, 127.
  const std::vector<std::pair<int, std::vector<std::size_t>>> right = {
      {6, {48}}, {7, {56}}, {8, {60}}, {9, {96, 104}}, {10, {96, 104}}, {11, {108}}, {12, {128}}};
  for (const auto& [api, extents] : right)
    for (std::size_t extent = 0; extent <= 512; ++extent) {
      const bool wanted = std::find(extents.begin(), extents.end(), extent) != extents.end();
      if (extent_fits(api, extent) != wanted) FAIL("v" << api << " extent " << extent);
    }
  CHECK(!extent_fits(13, 128));
}

TEST_CASE("the interface that the bootstrap took is read where the file has symbols") {
  const LoadedMock mock("2.28"), stripped("stripped_2.28");
  CHECK(bootstrap_interface(object_of_mock(mock)) == "mock0");
  CHECK(bootstrap_interface(object_of_mock(stripped)) == "");
  auto* name = reinterpret_cast<char* (*)()>(dlsym(mock.handle, "mock_bootstrap"))();
  std::memset(name, 0, 17);
  CHECK(bootstrap_interface(object_of_mock(mock)) == "");
  std::memset(name, 'x', 17);  // no end: not a name
  CHECK(bootstrap_interface(object_of_mock(mock)) == "");
}

TEST_CASE("releases and their net API") {
  CHECK(release_text(22809) == "2.28.9");
  CHECK(release_text(23007) == "2.30.7");
  CHECK(native_api(22902) == 11);
  CHECK(native_api(23203) == 12);
  CHECK(native_api(21799) == std::nullopt);
  CHECK(native_api(23300) == std::nullopt);
  CHECK(!takes_gin_v11(22803));
  CHECK(takes_gin_v11(22807));
  CHECK(takes_gin_v11(22903));
  CHECK(!takes_gin_v11(22907));
  CHECK(finalizes_after_failed_init(22803));
  CHECK(!finalizes_after_failed_init(22705));
  CHECK(!finalizes_after_failed_init(22907));
}
