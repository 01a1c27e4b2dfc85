// SPDX-License-Identifier: Apache-2.0
// What the plugin library does when the preload library reports a call: on mock NCCLs of several releases.
#include <arpa/inet.h>
#include <netinet/in.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "../plugin/scene.h"
#include "preload/hooks.h"

extern "C" {
extern const topoguard_env_v1_t ncclEnvPlugin_v1;
}

using namespace topoguard;

namespace {

constexpr const char* kPublished = "/opt/topoguard/lib/libnccl-net-topoguard.so";

void call(const LoadedMock& nccl, const char* function, const void* id = nullptr, int rank = -1) {
  topoguard_call_t call{};
  call.function = function;
  call.nccl = reinterpret_cast<const void*>(nccl.logger);
  call.ids = id;
  call.id_count = id != nullptr ? 1 : 0;
  call.ranks = id != nullptr ? 2 : 0;
  call.rank = rank;
  ncclEnvPlugin_v1.hooks.before(&call);
}

void unique_id(char* id, const char* address) {
  sockaddr_in inet{};
  inet.sin_family = AF_INET;
  inet.sin_port = htons(1);  // tcpmux: nobody listens
  inet_pton(AF_INET, address, &inet.sin_addr);
  std::memset(id, 0, TGNCCL_UNIQUE_ID_BYTES);
  std::memcpy(id + 8, &inet, sizeof inet);
}

}  // namespace

TEST_CASE("the hooks carry their mark behind NCCL's part") {
  CHECK(ncclEnvPlugin_v1.hooks.magic == TOPOGUARD_HOOKS_MAGIC);
  CHECK(ncclEnvPlugin_v1.hooks.version == TOPOGUARD_HOOKS_VERSION);
  CHECK(std::string(ncclEnvPlugin_v1.nccl.name) == "topoguard");
}

TEST_CASE("the first call publishes the decision before NCCL reads anything, the next ones nothing more") {
  const Child child = in_child([] {
    Scene scene;
    scene.decision.env = {{"NCCL_SOCKET_IFNAME", "=eth0"}};
    LoadedMock nccl("2.28");
    call(nccl, "ncclGetUniqueId");
    EXPECT(variable("NCCL_SOCKET_IFNAME") == "=eth0" && scene.seen.topoguard.front_end == "preload");
    char** const published = environ;
    call(nccl, "ncclCommInitRank");
    EXPECT(environ == published && scene.collected == 1);
  });
  CHECK_CHILD(child);
}

TEST_CASE("the published path stays where the release takes paths, else it gets the name that works") {
  const auto after = [](const char* release, const char* value) {
    const Child child = in_child([=] {
      Scene scene;
      LoadedMock nccl(release);
      setenv("NCCL_NET_PLUGIN", value, 1);
      call(nccl, "ncclGetUniqueId");
      const std::string wanted =
          std::string(release) == "2.18" && std::string(value) == kPublished ? "(unset)" : std::string(value);
      EXPECT(variable("NCCL_NET_PLUGIN") == wanted);
    });
    CHECK_CHILD(child);
  };
  after("2.28", kPublished);
  after("2.18", kPublished);
  after("2.18", "ofi");
  after("2.18", "topoguard");
}

TEST_CASE("off does nothing at all") {
  const Child child = in_child([] {
    Scene scene;
    setenv("TOPOGUARD_MODE", "off", 1);
    setenv("NCCL_NET_PLUGIN", kPublished, 1);
    scene.decision.env = {{"NCCL_SOCKET_IFNAME", "=eth0"}};
    LoadedMock nccl("2.18");
    char** const before = environ;
    call(nccl, "ncclGetUniqueId");
    EXPECT(environ == before && scene.collected == 0);
  });
  CHECK_CHILD(child);
}

TEST_CASE("a loopback announced by another host is said once, on stderr") {
  const Child child = in_child([] {
    Scene scene;
    LoadedMock nccl("2.28");
    char id[TGNCCL_UNIQUE_ID_BYTES];
    unique_id(id, "127.0.0.1");
    call(nccl, "ncclCommInitRank", id, 1);
    call(nccl, "ncclCommInitRank", id, 1);
  });
  CHECK(child.failures == "");
  CHECK(child.status == 0);
  CHECK(child.out == "");
  const auto first = child.err.find("[rank0-loopback]");
  CHECK(first != std::string::npos);
  CHECK(child.err.find("[rank0-loopback]", first + 1) == std::string::npos);
}

TEST_CASE("with NCCL_COMM_ID rank 0 need not listen yet: nothing is said") {
  const Child child = in_child([] {
    Scene scene;
    setenv("NCCL_COMM_ID", "127.0.0.1:1", 1);
    LoadedMock nccl("2.28");
    char id[TGNCCL_UNIQUE_ID_BYTES];
    unique_id(id, "127.0.0.1");
    call(nccl, "ncclCommInitRank", id, 1);
  });
  CHECK_CHILD(child);
  CHECK(child.err == "");
}
