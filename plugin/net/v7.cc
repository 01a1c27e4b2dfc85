// SPDX-License-Identifier: Apache-2.0
#include "wrap/collnet_plugin.h"
#include "wrap/export.h"
#include "wrap/net_plugin.h"

extern "C" {
TOPOGUARD_EXPORT extern tgnccl_net_v7_t ncclNetPlugin_v7;
TOPOGUARD_EXPORT extern tgnccl_collnet_v7_t ncclCollNetPlugin_v7;

constinit tgnccl_net_v7_t ncclNetPlugin_v7 = topoguard::make_net_table<&ncclNetPlugin_v7>();
constinit tgnccl_collnet_v7_t ncclCollNetPlugin_v7 = topoguard::make_collnet_table<&ncclCollNetPlugin_v7>();
}
