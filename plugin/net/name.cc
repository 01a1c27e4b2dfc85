// SPDX-License-Identifier: Apache-2.0
// Sets the tables' names when the library is loaded: NCCL compares them before any function of ours runs.
#include "wrap/adopted_name.h"
#include "wrap/api.h"

extern "C" {
extern tgnccl_net_v6_t ncclNetPlugin_v6;
extern tgnccl_net_v7_t ncclNetPlugin_v7;
extern tgnccl_net_v8_t ncclNetPlugin_v8;
extern tgnccl_net_v9_t ncclNetPlugin_v9;
extern tgnccl_net_v10_t ncclNetPlugin_v10;
extern tgnccl_net_v11_t ncclNetPlugin_v11;
extern tgnccl_net_v12_t ncclNetPlugin_v12;
}

namespace {

[[gnu::constructor]] void adopt_name() {
  const char* const name = topoguard::name_for_nccl();
  if (name == topoguard::kOwnName) return;
  ncclNetPlugin_v6.name = ncclNetPlugin_v7.name = ncclNetPlugin_v8.name = ncclNetPlugin_v9.name = name;
  ncclNetPlugin_v10.name = ncclNetPlugin_v11.name = ncclNetPlugin_v12.name = name;
}

}  // namespace
