// SPDX-License-Identifier: Apache-2.0
// The env plugin as NCCL calls it: answers, and what never happens.
#include "nccl/env.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../plugin/scene.h"
#include "host/environment.h"
#include "preload/hooks.h"
#include "steer/provenance.h"

extern "C" {
extern const topoguard_env_v1_t ncclEnvPlugin_v1;
extern const tgnccl_env_v2_t ncclEnvPlugin_v2;
}

using namespace topoguard;

namespace {

void clean() {
  for (const char* name : {"NCCL_ENV_PLUGIN", "NCCL_NET_PLUGIN_REF_COUNT", "LD_LIBRARY_PATH"}) unsetenv(name);
}

std::string ask(const char* name) {
  const char* const answer = ncclEnvPlugin_v1.nccl.get_env(name);
  return answer != nullptr ? answer : "(unset)";
}

tgnccl_result_t init(int minor = 28, int patch = 9) {
  return ncclEnvPlugin_v1.nccl.init(2, static_cast<std::uint8_t>(minor), static_cast<std::uint8_t>(patch), "");
}

}  // namespace

TEST_CASE("before init, and after finalize, the environment speaks") {
  const Child child = in_child([] {
    Scene scene;
    clean();
    setenv("NCCL_ALGO", "Ring", 1);
    EXPECT(ask("NCCL_ALGO") == "Ring" && ask("NCCL_SOCKET_IFNAME") == "(unset)");
    scene.decision.env = {{"NCCL_SOCKET_IFNAME", "=eth0"}};
    EXPECT(init() == tgnccl_success && ask("NCCL_SOCKET_IFNAME") == "=eth0");
    EXPECT(ncclEnvPlugin_v1.nccl.finalize() == tgnccl_success);
    EXPECT(ask("NCCL_SOCKET_IFNAME") == "=eth0" && ask("NCCL_ALGO") == "Ring");
    EXPECT(ncclEnvPlugin_v1.nccl.get_env(nullptr) == nullptr);
  });
  CHECK_CHILD(child);
}

TEST_CASE("the user's value wins, and nothing is put into the environment") {
  const Child child = in_child([] {
    Scene scene;
    clean();
    setenv("NCCL_SOCKET_IFNAME", "mine", 1);
    scene.decision.env = {{"NCCL_IB_HCA", "=mlx5_0:1"}};
    char** const before = environ;
    EXPECT(init() == tgnccl_success);
    EXPECT(ask("NCCL_SOCKET_IFNAME") == "mine" && ask("NCCL_IB_HCA") == "=mlx5_0:1");
    EXPECT(environ == before && variable("NCCL_IB_HCA") == "(unset)" && variable("TOPOGUARD_APPLIED") == "(unset)");
    const char* const answer = ncclEnvPlugin_v1.nccl.get_env("NCCL_IB_HCA");
    setenv("NCCL_IB_HCA", "later", 1);
    EXPECT(ask("NCCL_IB_HCA") == "later" && std::string(answer) == "=mlx5_0:1");
  });
  CHECK_CHILD(child);
}

TEST_CASE("a net plugin is named only where that keeps NCCL's own choice, or ours loaded") {
  const Child child = in_child([] {
    Scene scene;
    clean();
    EXPECT(init() == tgnccl_success);
    EXPECT(ask("NCCL_NET_PLUGIN") == "none" && ask("NCCL_NET_PLUGIN_REF_COUNT") == "(unset)");
  });
  CHECK_CHILD(child);
  const Child named = in_child([] {
    Scene scene;
    clean();
    setenv("NCCL_NET_PLUGIN", "topoguard", 1);
    EXPECT(init() == tgnccl_success);
    EXPECT(ask("NCCL_NET_PLUGIN") == "topoguard" && ask("NCCL_NET_PLUGIN_REF_COUNT") == "1");
  });
  CHECK_CHILD(named);
  const Child fixed = in_child([] {
    Scene scene;
    clean();
    setenv("NCCL_NET_PLUGIN", "topoguard", 1);
    EXPECT(ncclEnvPlugin_v2.init(2, 30, 7, "", nullptr) == tgnccl_success);
    EXPECT(ask("NCCL_NET_PLUGIN_REF_COUNT") == "(unset)");
  });
  CHECK_CHILD(fixed);
}

TEST_CASE("init succeeds whatever fails inside") {
  for (const bool in_collect : {true, false}) {
    const Child child = in_child([in_collect] {
      Scene scene;
      clean();
      SessionParts parts;
      parts.collect = [in_collect](const Sources&, const CollectOptions&) -> HostSnapshot {
        if (in_collect) throw std::runtime_error("no host");
        return {};
      };
      parts.decide = [](const HostSnapshot&, const Policy&) -> Decision { throw 7; };
      replace_session_parts(parts);
      setenv("NCCL_ALGO", "Ring", 1);
      EXPECT(init() == tgnccl_success);
      EXPECT(ask("NCCL_ALGO") == "Ring" && ask("NCCL_SOCKET_IFNAME") == "(unset)");
    });
    CHECK_CHILD(child);
  }
}

TEST_CASE("observe and off steer nothing") {
  for (const char* mode : {"observe", "off"}) {
    const Child child = in_child([mode] {
      Scene scene;
      clean();
      setenv("TOPOGUARD_MODE", mode, 1);
      setenv("NCCL_IB_HCA", "=mlx5_7", 1);
      setenv("TOPOGUARD_APPLIED", applied_value("boot+1", {{"NCCL_IB_HCA", "=mlx5_7"}}).c_str(), 1);
      scene.decision.env = {{"NCCL_SOCKET_IFNAME", "=eth0"}};
      EXPECT(init() == tgnccl_success);
      EXPECT(ask("NCCL_SOCKET_IFNAME") == "(unset)" && ask("NCCL_IB_HCA") == "=mlx5_7");
      EXPECT(scene.decided == (std::string(mode) == "observe" ? 1 : 0));
    });
    CHECK_CHILD(child);
  }
}

TEST_CASE("what topoguard published on another host is unset, until the user sets it") {
  const Child child = in_child([] {
    Scene scene;
    clean();
    setenv("NCCL_IB_HCA", "=mlx5_7", 1);
    setenv("NCCL_SOCKET_IFNAME", "=ens3", 1);
    setenv("TOPOGUARD_APPLIED",
           applied_value("boot+1", {{"NCCL_IB_HCA", "=mlx5_7"}, {"NCCL_SOCKET_IFNAME", "=ens3"}}).c_str(), 1);
    scene.decision.env = {{"NCCL_SOCKET_IFNAME", "=eth0"}};
    EXPECT(init() == tgnccl_success);
    EXPECT(ask("NCCL_SOCKET_IFNAME") == "=eth0" && ask("NCCL_IB_HCA") == "(unset)");
    setenv("NCCL_IB_HCA", "=mlx5_1", 1);
    EXPECT(ask("NCCL_IB_HCA") == "=mlx5_1");
  });
  CHECK_CHILD(child);
}

TEST_CASE("warnings are heard on stderr where no net plugin of ours will say them") {
  const auto said = [](const char* plugin, const char* net) {
    return in_child([=] {
      Scene scene;
      clean();
      if (plugin != nullptr) setenv("NCCL_NET_PLUGIN", plugin, 1);
      if (net != nullptr) setenv("NCCL_NET", net, 1);
      scene.decision.findings = {{Severity::warning, "gid-pin-stale", "mlx5_0", "stale", "unset it"}};
      EXPECT(init() == tgnccl_success);
      EXPECT(init() == tgnccl_success);
    });
  };
  for (const auto& [plugin, net] :
       {std::pair<const char*, const char*>(nullptr, nullptr), {"topoguard", "Socket"}, {"none", nullptr}}) {
    const Child child = said(plugin, net);
    CHECK_CHILD(child);
    const auto first = child.err.find("[gid-pin-stale]");
    CHECK(first != std::string::npos);
    CHECK(child.err.find("[gid-pin-stale]", first + 1) == std::string::npos);
  }
  const Child later = said("topoguard", nullptr);  // the net plugin says it, through NCCL's log
  CHECK_CHILD(later);
  CHECK(later.err == "");
}

TEST_CASE("many threads ask while it is being prepared") {
  const Child child = in_child([] {
    Scene scene;
    clean();
    scene.decision.env = {{"NCCL_SOCKET_IFNAME", "=eth0"}};
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&, i] {
        if (i < 4 && init() != tgnccl_success) ++wrong;
        for (int n = 0; n < 20000; ++n) {
          const std::string answer = ask("NCCL_SOCKET_IFNAME");
          if (answer != "=eth0" && answer != "(unset)") ++wrong;
        }
        if (i < 4 && ask("NCCL_SOCKET_IFNAME") != "=eth0") ++wrong;
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT(wrong == 0 && scene.decided == 1);
  });
  CHECK_CHILD(child);
}
