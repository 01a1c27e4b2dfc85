// SPDX-License-Identifier: Apache-2.0
//
// alone PLUGIN: loads a net plugin without any NCCL around it and calls init(), and devices() where that succeeded, of
// every table from v6 to v12 that it exports. Prints "vN" for each. Run it with the forbidden libcuda and libnvidia-ml
// in the search path: they end it when the plugin initialises either. Exit: 0 all calls returned, 1 the plugin cannot
// be loaded.
#include <dlfcn.h>

#include <cstdio>
#include <string>
#include <type_traits>

#include "nccl/net_v10.h"
#include "nccl/net_v11.h"
#include "nccl/net_v12.h"
#include "nccl/net_v6.h"
#include "nccl/net_v7.h"
#include "nccl/net_v8.h"
#include "nccl/net_v9.h"

namespace {

void logger(tgnccl_log_level_t, unsigned long, const char*, int, const char*, ...) {}

template <class Table>
tgnccl_result_t init(Table* net, void** context, tgnccl_comm_config_t* config) {
  if constexpr (std::is_same_v<Table, tgnccl_net_v11_t> || std::is_same_v<Table, tgnccl_net_v12_t>) {
    return net->init(context, 1, config, logger, nullptr);
  } else if constexpr (std::is_same_v<Table, tgnccl_net_v10_t>) {
    return net->init(logger, nullptr);
  } else {
    return net->init(logger);
  }
}

template <class Table>
void call(void* plugin, int version) {
  auto* net = static_cast<Table*>(dlsym(plugin, ("ncclNetPlugin_v" + std::to_string(version)).c_str()));
  if (net == nullptr) return;
  void* context = nullptr;
  tgnccl_comm_config_t config{-1};
  int devices = 0;
  if (init(net, &context, &config) == tgnccl_success) net->devices(&devices);
  // NCCL 2.28 calls finalize() after an init() that failed, too.
  if constexpr (std::is_same_v<Table, tgnccl_net_v11_t> || std::is_same_v<Table, tgnccl_net_v12_t>)
    net->finalize(context);
  std::printf("v%d\n", version);
}

}  // namespace

int main(int argc, char** argv) {
  void* plugin = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (plugin == nullptr) {
    std::fprintf(stderr, "alone: %s\n", argc == 2 ? dlerror() : "usage: alone PLUGIN");
    return 1;
  }
  call<tgnccl_net_v6_t>(plugin, 6);
  call<tgnccl_net_v7_t>(plugin, 7);
  call<tgnccl_net_v8_t>(plugin, 8);
  call<tgnccl_net_v9_t>(plugin, 9);
  call<tgnccl_net_v10_t>(plugin, 10);
  call<tgnccl_net_v11_t>(plugin, 11);
  call<tgnccl_net_v12_t>(plugin, 12);
  return 0;
}
