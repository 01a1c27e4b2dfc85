// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <filesystem>

#include "scene.h"
#include "stock/foreign_plugin.h"
#include "wrap/adopted_name.h"

using namespace topoguard;

namespace {

std::string foreign(const char* api) {
  const char* directory = std::getenv("FOREIGN_DIR");
  return std::string(directory != nullptr ? directory : ".") + "/foreign_v" + api + ".so";
}

// The same file under NCCL's default name.
std::string foreign_folder(const char* api) {
  const std::string folder = foreign(api) + ".d";
  std::filesystem::create_directories(folder);
  const std::string link = folder + "/libnccl-net.so";
  if (!std::filesystem::exists(link)) std::filesystem::create_symlink(foreign(api), link);
  return folder;
}

}  // namespace

TEST_CASE("a foreign plugin of the right version is wrapped, its collective network too") {
  const Child child = in_child([] {
    Scene scene;
    setenv("TOPOGUARD_BASE", foreign("11").c_str(), 1);
    LoadedMock nccl("2.28");
    void *context = nullptr, *collnet = nullptr;
    EXPECT(ncclCollNetPlugin_v11.init(&collnet, 7, nccl.logger) != tgnccl_success);
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger, &context) == tgnccl_success);
    EXPECT(device_count(ncclNetPlugin_v11) == 3);
    EXPECT(nccl.mock->socket.inits == 0 && nccl.mock->ib.inits == 0);
    EXPECT(std::string(ncclNetPlugin_v11.name) == "topoguard");
    EXPECT(ncclNetPlugin_v11.irecv == nullptr);  // as the foreign one has it
    EXPECT(ncclCollNetPlugin_v11.iallgather != nullptr);
    EXPECT(ncclCollNetPlugin_v11.init(&collnet, 7, nccl.logger) == tgnccl_success);
    EXPECT(ncclCollNetPlugin_v11.iallgather == nullptr);  // as the foreign one has it
    EXPECT(ncclNetPlugin_v11.finalize(context) == tgnccl_success);
    EXPECT(has(nccl.mock->log, foreign("11")));
  });
  CHECK_CHILD(child);
  CHECK(child.err == "");
}

TEST_CASE("a foreign plugin of an older version is adapted, its collective network too") {
  const Child child = in_child([] {
    Scene scene;
    setenv("TOPOGUARD_BASE", foreign("8").c_str(), 1);
    LoadedMock nccl("2.28");
    void *context = nullptr, *collnet = nullptr;
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger, &context) == tgnccl_success);
    EXPECT(device_count(ncclNetPlugin_v11) == 3);
    EXPECT(nccl.mock->socket.inits == 0 && nccl.mock->ib.inits == 0);
    tgnccl_net_properties_v11_t properties;
    std::memset(&properties, 0x5a, sizeof properties);
    EXPECT(ncclNetPlugin_v11.get_properties(2, &properties) == tgnccl_success);
    EXPECT(std::string(properties.name) == "foreign0" && properties.max_multi_request_size == 1);
    EXPECT(properties.vprops.ndevs == 1 && properties.vprops.devs[0] == 2);
    EXPECT(ncclCollNetPlugin_v11.init(&collnet, 7, nccl.logger) == tgnccl_success);
    EXPECT(ncclNetPlugin_v11.finalize(context) == tgnccl_success);
    EXPECT(has(nccl.mock->log, "adapted from net API v8"));
  });
  CHECK_CHILD(child);
  CHECK(child.err == "");
}

TEST_CASE("a foreign plugin that is not there is named in a warning and never lost silently") {
  const std::string base = "/nonexistent/libnccl-net.so";
  const Child child = in_child([&] {
    Scene scene;
    setenv("TOPOGUARD_BASE", base.c_str(), 1);
    LoadedMock nccl("2.28");
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger) != tgnccl_success);
    EXPECT(nccl.mock->socket.inits == 0);
  });
  CHECK_CHILD(child);
  CHECK(has(child.err, "base-plugin-lost"));
  CHECK(has(child.err, "TOPOGUARD_BASE=" + base));
  CHECK(!has(child.err, "NCCL alone would use the plugin"));  // not known here
  CHECK(!has(child.err, "leave NCCL_NET_PLUGIN unset"));
}

TEST_CASE("a default plugin that is too new for this NCCL is passed over, as NCCL does") {
  const Child child = in_child([] {
    Scene scene;
    scene.plugins = {{foreign_folder("11") + "/libnccl-net.so", "net", {"v11"}}};
    LoadedMock nccl("2.22");
    EXPECT(call_init(ncclNetPlugin_v8, nccl.logger) == tgnccl_success);
    EXPECT(nccl.mock->socket.inits == 1);
  });
  CHECK_CHILD(child);
  CHECK(child.err == "");
}

TEST_CASE("a foreign plugin that has no device here leaves the place to NCCL's own transports") {
  const Child child = in_child([] {
    Scene scene;
    setenv("TOPOGUARD_BASE", foreign("8").c_str(), 1);
    setenv("FOREIGN_FAILS", "1", 1);
    LoadedMock nccl("2.28");
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger) == tgnccl_success);
    EXPECT(device_count(ncclNetPlugin_v11) == 1);
    EXPECT(nccl.mock->socket.inits == 1);
  });
  CHECK_CHILD(child);
}

TEST_CASE("NCCL_NET names the network of a foreign plugin: our tables bear it, and only that plugin answers") {
  for (const char* network : {"Foreign", "fOREIGN"}) {
    const Child child = in_child([&] {
      Scene scene;
      setenv("NCCL_NET", network, 1);
      setenv("TOPOGUARD_BASE", foreign("8").c_str(), 1);
      EXPECT(std::string(name_for_nccl()) == network);
      LoadedMock nccl("2.28");
      EXPECT(call_init(ncclNetPlugin_v11, nccl.logger) == tgnccl_success);
      EXPECT(device_count(ncclNetPlugin_v11) == 3);
    });
    CHECK_CHILD(child);
    CHECK(child.err == "");
  }
  const Child missing = in_child([] {
    Scene scene;
    setenv("NCCL_NET", "AWS Libfabric", 1);
    setenv("TOPOGUARD_BASE", foreign("8").c_str(), 1);
    LoadedMock nccl("2.28");
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger) != tgnccl_success);
    EXPECT(nccl.mock->socket.inits == 0);
  });
  CHECK_CHILD(missing);
  CHECK(has(missing.err, "base-network-missing"));
  CHECK(has(missing.err, "AWS Libfabric"));
  for (const char* network : {"IB", "socket", "TopoGuard", ""}) {
    const Child own = in_child([&] {
      Scene scene;
      setenv("NCCL_NET", network, 1);
      EXPECT(std::string(name_for_nccl()) == "topoguard");
    });
    CHECK_CHILD(own);
  }
}

TEST_CASE("what a foreign file exports") {
  const auto right = open_foreign(foreign("11"), 11);
  CHECK(right.net != nullptr);
  CHECK(right.collnet != nullptr);
  CHECK(right.versions == std::vector<int>{11});
  CHECK(right.net_version == 11);
  CHECK(right.net_name == "Foreign");
  const auto older = open_foreign(foreign("8"), 11);
  CHECK(older.net != nullptr);
  CHECK(older.net_version == 8);
  CHECK(older.collnet_version == 8);
  const auto newer = open_foreign(foreign("11"), 10);
  CHECK(newer.net == nullptr);
  CHECK(has(newer.problem, "only v11"));
  const auto none = open_foreign(LoadedMock::place("2.28"), 11);
  CHECK(none.net == nullptr);
  CHECK(none.versions.empty());
}
