// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

#include "belongings.h"
#include "scene.h"

using namespace topoguard;

namespace {

Finding warning(const char* code) { return {Severity::warning, code, "eth0", "something is wrong", "do something"}; }

}  // namespace

TEST_CASE("variables are published once, before the stock init(), with their provenance") {
  const Child child = in_child([] {
    Scene scene;
    scene.decision.env = {{"NCCL_SOCKET_IFNAME", "=eth0"}};
    LoadedMock nccl("2.28");
    void* context = nullptr;
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger, &context) == tgnccl_success);
    EXPECT(std::string(nccl.mock->socket.ifname_at_init) == "=eth0");
    EXPECT(has(variable("TOPOGUARD_APPLIED"), ":NCCL_SOCKET_IFNAME"));
    char** const published = environ;
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger, &context) == tgnccl_success);
    EXPECT(environ == published && scene.collected == 1 && scene.decided == 1);
  });
  CHECK_CHILD(child);
}

TEST_CASE("nothing to set: the environment stays as it is") {
  const Child child = in_child([] {
    Scene scene;
    LoadedMock nccl("2.28");
    char** const before = environ;
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger) == tgnccl_success);
    EXPECT(environ == before && variable("TOPOGUARD_APPLIED") == "(unset)");
  });
  CHECK_CHILD(child);
}

TEST_CASE("what was inherited from topoguard, here or elsewhere, is decided anew") {
  const Child child = in_child([] {
    Scene scene;
    setenv("NCCL_SOCKET_IFNAME", "=other0", 1);
    setenv("NCCL_IB_HCA", "=mlx5_9", 1);
    setenv("NCCL_CROSS_NIC", "1", 1);
    setenv("TOPOGUARD_APPLIED", "another-boot+1:NCCL_IB_HCA,NCCL_SOCKET_IFNAME", 1);
    scene.decision.env = {{"NCCL_SOCKET_IFNAME", "=eth0"}};
    LoadedMock nccl("2.28");
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger) == tgnccl_success);
    EXPECT(scene.seen.env.count("NCCL_SOCKET_IFNAME") == 0 && scene.seen.env.count("NCCL_IB_HCA") == 0);
    EXPECT(scene.seen.env.count("NCCL_CROSS_NIC") == 1);
    EXPECT(std::string(nccl.mock->socket.ifname_at_init) == "=eth0");
    EXPECT(variable("NCCL_IB_HCA") == "(unset)" && variable("NCCL_CROSS_NIC") == "1");
    EXPECT(!has(variable("TOPOGUARD_APPLIED"), "another-boot"));
  });
  CHECK_CHILD(child);
}

TEST_CASE("observe decides and speaks, and changes nothing") {
  const Child child = in_child([] {
    Scene scene;
    setenv("TOPOGUARD_MODE", "observe", 1);
    scene.decision.env = {{"NCCL_SOCKET_IFNAME", "=eth0"}};
    LoadedMock nccl("2.28");
    char** const before = environ;
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger) != tgnccl_success);
    EXPECT(environ == before && nccl.mock->socket.inits == 0 && nccl.mock->ib.inits == 0);
    EXPECT(scene.decided == 1 && has(nccl.mock->log, "observing, nothing is changed"));
  });
  CHECK_CHILD(child);
}

TEST_CASE("off: not a look, not a word, not a change") {
  const Child child = in_child([] {
    Scene scene;
    setenv("TOPOGUARD_MODE", "off", 1);
    setenv("NCCL_SOCKET_IFNAME", "=other0", 1);
    setenv("TOPOGUARD_APPLIED", "x+1:NCCL_SOCKET_IFNAME", 1);
    scene.decision.env = {{"NCCL_SOCKET_IFNAME", "=eth0"}};
    LoadedMock nccl("2.28");
    char** const before = environ;
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger) != tgnccl_success);
    EXPECT(environ == before && scene.collected == 0 && scene.decided == 0);
    EXPECT(nccl.mock->socket.inits == 0 && std::string(nccl.mock->log) == "");
  });
  CHECK_CHILD(child);
  CHECK(child.err == "");
}

TEST_CASE("NCCL_NET=TopoGuard: passed through where declining would be an error for the job") {
  for (const char* mode : {"off", "observe"}) {
    const Child child = in_child([&] {
      Scene scene;
      setenv("TOPOGUARD_MODE", mode, 1);
      setenv("NCCL_NET", "TopoGuard", 1);
      scene.decision.env = {{"NCCL_SOCKET_IFNAME", "=eth0"}};
      LoadedMock nccl("2.28");
      nccl.mock->ib.devices = 1;  // NCCL alone would take IB, whatever was decided
      char** const before = environ;
      EXPECT(call_init(ncclNetPlugin_v11, nccl.logger) == tgnccl_success);
      EXPECT(environ == before && nccl.mock->ib.inits == 1);
    });
    CHECK_CHILD(child);
    CHECK(child.err == "");
  }
}

TEST_CASE("REQUIRE=IB not met: init() succeeds, connections are refused with the reason") {
  const Child child = in_child([] {
    Scene scene;
    setenv("TOPOGUARD_REQUIRE", "IB", 1);
    LoadedMock nccl("2.28");
    void *context = nullptr, *comm = nullptr;
    Handle handle{};
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger, &context) == tgnccl_success);
    EXPECT(device_count(ncclNetPlugin_v11) == 1);
    EXPECT(call_listen(ncclNetPlugin_v11, context, handle.data(), &comm) == tgnccl_system_error);
    EXPECT(call_connect(ncclNetPlugin_v11, context, handle.data(), &comm) == tgnccl_system_error);
  });
  CHECK_CHILD(child);
  CHECK(has(child.err, "TOPOGUARD_REQUIRE=IB"));
  const Child met = in_child([] {
    Scene scene;
    setenv("TOPOGUARD_REQUIRE", "IB", 1);
    scene.ib("mlx5_0");
    LoadedMock nccl("2.28");
    nccl.mock->ib.devices = 1;
    void *context = nullptr, *comm = nullptr;
    Handle handle{};
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger, &context) == tgnccl_success);
    EXPECT(call_listen(ncclNetPlugin_v11, context, handle.data(), &comm) == tgnccl_success);
  });
  CHECK_CHILD(met);
  CHECK(met.err == "");
}

TEST_CASE("a collector or a rule that throws: one warning, nothing changed, NCCL goes on") {
  for (const int what : {0, 1, 2}) {
    const Child child = in_child([&] {
      Scene scene;
      SessionParts parts;
      parts.collect = [what](const Sources&, const CollectOptions&) -> HostSnapshot {
        if (what == 0) throw std::runtime_error("no such luck");
        if (what == 1) throw 42;
        return {};
      };
      parts.decide = [](const HostSnapshot&, const Policy&) -> Decision { throw std::bad_alloc(); };
      replace_session_parts(parts);
      LoadedMock nccl("2.28");
      char** const before = environ;
      EXPECT(call_init(ncclNetPlugin_v11, nccl.logger) != tgnccl_success);
      EXPECT(call_init(ncclNetPlugin_v11, nccl.logger) != tgnccl_success);
      EXPECT(environ == before && nccl.mock->socket.inits == 0);
    });
    CHECK_CHILD(child);
    CHECK(has(child.err, "internal-error"));
    CHECK(std::count(child.err.begin(), child.err.end(), '\n') == 1);
  }
}

TEST_CASE("warnings are heard once, from local rank 0, where NCCL would hide them") {
  struct Row {
    const char *name, *value;
    bool on_stderr, by_nccl;
  };
  for (const Row& row : {Row{"", "", true, false},
                         {"NCCL_DEBUG", "VERSION", true, false},
                         {"NCCL_DEBUG", "WARN", false, true},
                         {"LOCAL_RANK", "0", true, false},
                         {"LOCAL_RANK", "3", false, false},
                         {"SLURM_LOCALID", "1", false, false},
                         {"TOPOGUARD_LOG", "off", false, false}}) {
    INFO(row.name << "=" << row.value);
    const Child child = in_child([&] {
      Scene scene;
      if (*row.name != '\0') setenv(row.name, row.value, 1);
      scene.decision.findings = {warning("gid-pin-stale"), warning("gid-pin-stale")};
      LoadedMock nccl("2.28");
      EXPECT(call_init(ncclNetPlugin_v11, nccl.logger) == tgnccl_success);
      EXPECT(call_init(ncclNetPlugin_v11, nccl.logger) == tgnccl_success);
      EXPECT((nccl.mock->levels[tgnccl_log_warn] == 1) == row.by_nccl);
      EXPECT((nccl.mock->levels[tgnccl_log_info] == 0) == (std::string(row.name) == "TOPOGUARD_LOG"));
    });
    CHECK_CHILD(child);
    CHECK((std::count(child.err.begin(), child.err.end(), '\n') == 1) == row.on_stderr);
    CHECK(has(child.err, "gid-pin-stale") == row.on_stderr);
  }
}

TEST_CASE("devices other than decided are reported") {
  const Child child = in_child([] {
    Scene scene;
    scene.socket("eth7");
    LoadedMock nccl("2.28");
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger) == tgnccl_success);
  });
  CHECK_CHILD(child);
  CHECK(has(child.err, "steering-not-applied"));
  CHECK(has(child.err, "eth7"));
}

TEST_CASE("many threads at once: one decision, no thread and no file of ours left") {
  const Child child = in_child([] {
    Scene scene;
    scene.decision.env = {{"NCCL_SOCKET_IFNAME", "=eth0"}};
    LoadedMock nccl("2.28");
    std::thread([] {}).join();  // a sanitizer's own thread comes with the first
    const int files = open_files(), threads_before = own_threads();
    std::vector<std::thread> threads;
    std::vector<void*> contexts(8, nullptr);
    for (auto& context : contexts)
      threads.emplace_back([&] { EXPECT(call_init(ncclNetPlugin_v11, nccl.logger, &context) == tgnccl_success); });
    for (auto& thread : threads) thread.join();
    EXPECT(scene.collected == 1 && nccl.mock->socket.inits == 8);
    for (void* context : contexts) EXPECT(ncclNetPlugin_v11.finalize(context) == tgnccl_success);
    EXPECT(nccl.mock->socket.finalizes == 8);
    EXPECT(open_files() == files && threads_become(threads_before));
  });
  CHECK_CHILD(child);
}
