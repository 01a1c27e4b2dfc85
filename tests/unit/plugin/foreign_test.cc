// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "scene.h"
#include "stock/foreign_plugin.h"

using namespace topoguard;

namespace {

std::string foreign(const char* api) {
  const char* directory = std::getenv("FOREIGN_DIR");
  return std::string(directory != nullptr ? directory : ".") + "/foreign_v" + api + ".so";
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
    EXPECT(ncclCollNetPlugin_v11.init(&collnet, 7, nccl.logger) == tgnccl_success);
    EXPECT(ncclNetPlugin_v11.finalize(context) == tgnccl_success);
    EXPECT(has(nccl.mock->log, foreign("11")));
  });
  CHECK_CHILD(child);
  CHECK(child.err == "");
}

TEST_CASE("a foreign plugin of another version, or none at all, is named in a warning and never lost silently") {
  for (const std::string& base : {foreign("8"), std::string("/nonexistent/libnccl-net.so")}) {
    const Child child = in_child([&] {
      Scene scene;
      setenv("TOPOGUARD_BASE", base.c_str(), 1);
      LoadedMock nccl("2.28");
      EXPECT(call_init(ncclNetPlugin_v11, nccl.logger) != tgnccl_success);
      EXPECT(nccl.mock->socket.inits == 0);
    });
    CHECK_CHILD(child);
    CHECK(has(child.err, "base-plugin-lost"));
    CHECK(has(child.err, base));
  }
}

TEST_CASE("what a foreign file exports") {
  const auto right = open_foreign(foreign("11"), 11);
  CHECK(right.net != nullptr);
  CHECK(right.collnet != nullptr);
  CHECK(right.versions == std::vector<int>{11});
  const auto older = open_foreign(foreign("8"), 11);
  CHECK(older.net == nullptr);
  CHECK(has(older.problem, "only v8"));
  const auto none = open_foreign(LoadedMock::place("2.28"), 11);
  CHECK(none.net == nullptr);
  CHECK(none.versions.empty());
}
