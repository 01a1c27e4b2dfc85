// SPDX-License-Identifier: Apache-2.0
#include "wrap/collnet_plugin.h"
#include "wrap/export.h"
#include "wrap/net_plugin.h"

extern "C" {
TOPOGUARD_EXPORT extern tgnccl_net_v12_t ncclNetPlugin_v12;
TOPOGUARD_EXPORT extern tgnccl_collnet_v12_t ncclCollNetPlugin_v12;

constinit tgnccl_net_v12_t ncclNetPlugin_v12 = topoguard::make_net_table<&ncclNetPlugin_v12>();
constinit tgnccl_collnet_v12_t ncclCollNetPlugin_v12 = topoguard::make_collnet_table<&ncclCollNetPlugin_v12>();
}
