// SPDX-License-Identifier: Apache-2.0
#include "scene.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "../support/hca_tree.h"
#include "../unit/mock_nccl/loaded_mock.h"
#include "nccl/net_v11.h"
#include "nccl/net_v8.h"
#include "preload/hooks.h"

namespace faults {
namespace {

LoadedMock* mock = nullptr;

constexpr const char* kUsers[][2] = {{"NCCL_IB_TIMEOUT", "22"}, {"MASTER_ADDR", "127.0.0.1"}, {"FAULTS_USER", "stays"}};

template <typename Table>
constexpr bool kContexts = std::is_same_v<Table, tgnccl_net_v11_t>;

template <typename Table>
tgnccl_result_t init(Table& net, void** context) {
  tgnccl_comm_config_t config = {-1};
  if constexpr (kContexts<Table>)
    return net.init(context, 7, &config, mock->logger, nullptr);
  else
    return net.init(mock->logger);
}

template <typename Table>
std::string connection(Table& net, void* context) {
  int devices = 0;
  std::conditional_t<kContexts<Table>, tgnccl_net_properties_v11_t, tgnccl_net_properties_v8_t> properties = {};
  if (net.devices(&devices) != tgnccl_success || devices < 1) return "init() succeeded, and there is no device";
  if (net.get_properties(0, &properties) != tgnccl_success || properties.name == nullptr) return "no properties";
  alignas(16) char handle[128] = {};
  void *listener = nullptr, *sender = nullptr, *receiver = nullptr, *memory = nullptr, *request = nullptr;
  tgnccl_device_handle_t* offload = nullptr;
  tgnccl_result_t result = tgnccl_success;
  if constexpr (kContexts<Table>)
    result = net.listen(context, 0, handle, &listener);
  else
    result = net.listen(0, handle, &listener);
  if (result != tgnccl_success || listener == nullptr) return "listen() failed where the transport's own succeeds";
  for (int poll = 0; poll < 3 && sender == nullptr; ++poll) {
    if constexpr (kContexts<Table>)
      result = net.connect(context, 0, handle, &sender, &offload);
    else
      result = net.connect(0, handle, &sender, &offload);
    if (result != tgnccl_success) return "connect() failed where the transport's own succeeds";
  }
  if (net.accept(listener, &receiver, &offload) != tgnccl_success || receiver == nullptr) return "accept() failed";
  char data[64];
  if (net.reg_mr(sender, data, sizeof data, TGNCCL_PTR_HOST, &memory) != tgnccl_success) return "regMr() failed";
  int done = 1, size = 0;
  if constexpr (kContexts<Table>)
    result = net.isend(sender, data, sizeof data, 0, memory, nullptr, &request);
  else
    result = net.isend(sender, data, sizeof data, 0, memory, &request);
  if (result != tgnccl_success || net.test(request, &done, &size) != tgnccl_success) return "the data path failed";
  net.dereg_mr(sender, memory);
  if (net.close_send(sender) != tgnccl_success || net.close_recv(receiver) != tgnccl_success ||
      net.close_listen(listener) != tgnccl_success)
    return "a close failed";
  return "";
}

template <typename Table>
std::string communicators(void* library, const char* name, bool* declined) {
  auto* net = static_cast<Table*>(dlsym(library, name));
  if (net == nullptr) return std::string("the library has no ") + name;
  void *first = nullptr, *second = nullptr;
  *declined = init(*net, &first) != tgnccl_success;
  std::string problem;
  if (*declined) {
    if constexpr (kContexts<Table>) net->finalize(first);
    return "";
  }
  // Success without a device: NCCL goes on with its own transports (before net API v11).
  int devices = 0;
  if (!kContexts<Table> && net->devices(&devices) == tgnccl_success && devices == 0) {
    *declined = true;
    return "";
  }
  problem = connection(*net, first);
  if (problem.empty() && init(*net, &second) != tgnccl_success)
    problem = "init() failed after it had succeeded: NCCL disables the plugin under a running job";
  if (problem.empty()) problem = connection(*net, second);
  if constexpr (kContexts<Table>) {
    if (problem.empty() && net->finalize(second) != tgnccl_success) problem = "finalize() failed";
    if (net->finalize(first) != tgnccl_success) problem = "finalize() failed";
  }
  return problem;
}

std::string hooks(void* library) {
  auto* env = static_cast<const topoguard_env_v1_t*>(dlsym(library, "ncclEnvPlugin_v1"));
  if (env == nullptr) return "the library has no ncclEnvPlugin_v1";
  unsigned char id[128] = {};
  topoguard_call_t call = {"ncclCommInitRank", mock->inside(), id, 1, 2, 0};
  env->hooks.before(&call);
  if (env->nccl.init(2, 28, 9, "") != tgnccl_success) return "the env plugin's init() failed: this ends a job";
  const char* mine = env->nccl.get_env("NCCL_IB_TIMEOUT");
  if (mine == nullptr || std::strcmp(mine, "22") != 0) return "the user's variable has another value";
  env->nccl.get_env("NCCL_SOCKET_IFNAME");
  return "";
}

constexpr int kHcas = 2;
int (*collect)(const char* root) = nullptr;

// What could not be read may cost a choice, never the process; without a fault each port has its GID.
std::string collectors(const Place& place, bool* declined) {
  if (collect == nullptr) return "the library of collectors could not be opened, or has no faults_collect";
  const int chosen = collect(place.scratch.c_str());
  *declined = chosen < kHcas;
  return chosen > kHcas ? "more ports are chosen than there are" : "";
}

}  // namespace

const std::vector<std::string> kScenes = {"net", "old", "env", "files", "rdma"};

void prepare(const Place& place, const std::string& scene) {
  for (char** entry = environ; *entry != nullptr && scene != "as-is";) {
    const std::string name(*entry, std::strcspn(*entry, "="));
    if (name.rfind("NCCL_", 0) == 0 || name.rfind("TOPOGUARD_", 0) == 0)
      unsetenv(name.c_str());
    else
      ++entry;
  }
  for (const auto& [name, value] : kUsers) setenv(name, value, 1);
  if (scene == "files") {
    setenv("TOPOGUARD_LOG", "debug", 1);
    setenv("TOPOGUARD_LOG_FILE", (place.scratch + "/log").c_str(), 1);
    setenv("TOPOGUARD_METRICS", (place.scratch + "/metrics").c_str(), 1);
    setenv("TOPOGUARD_STALL_WARN_S", "60", 1);
  }
  if (scene == "rdma") {
    if (!std::filesystem::exists(place.scratch + "/sys")) test::make_hca_tree(place.scratch, kHcas, 6, 4);
    // Before any fault: a library that gets no memory for libstdc++'s emergency pool while it is loaded cannot throw
    // std::bad_alloc later. The other scenes load the plugin under faults.
    if (void* library = dlopen(place.collectors.c_str(), RTLD_NOW | RTLD_LOCAL); library != nullptr)
      collect = reinterpret_cast<int (*)(const char*)>(dlsym(library, "faults_collect"));
    return;
  }
  mock = new LoadedMock(place.mocks + "/mock_nccl_" + (scene == "old" ? "2.22" : "2.28") + ".so");
}

std::string play(const Place& place, const std::string& scene, bool* declined) {
  *declined = false;
  if (scene == "rdma") return collectors(place, declined);
  void* library = dlopen(place.plugin.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::string("the library could not be opened: ") + dlerror();
  const std::string problem = scene == "env" ? hooks(library) : "";
  if (!problem.empty()) return problem;
  return scene == "old" ? communicators<tgnccl_net_v8_t>(library, "ncclNetPlugin_v8", declined)
                        : communicators<tgnccl_net_v11_t>(library, "ncclNetPlugin_v11", declined);
}

std::string belongings() {
  std::string text;
  for (int fd = 0; fd < 256; ++fd)
    if (fcntl(fd, F_GETFD) >= 0) text += std::to_string(fd) + " ";
  sigset_t mask;
  sigemptyset(&mask);
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  for (int number = 1; number < 32; ++number)
    if (sigismember(&mask, number) == 1) text += "blocked " + std::to_string(number) + " ";
  for (const auto& [name, value] : kUsers) {
    const char* now = std::getenv(name);
    if (now == nullptr || std::strcmp(now, value) != 0) text += std::string(name) + " changed ";
  }
  // A variable of ours that does not say so would be taken for the user's by a child.
  if (std::getenv("NCCL_SOCKET_IFNAME") != nullptr && std::getenv("TOPOGUARD_APPLIED") == nullptr)
    text += "published without TOPOGUARD_APPLIED ";
  return text;
}

}  // namespace faults
