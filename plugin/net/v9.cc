// SPDX-License-Identifier: Apache-2.0
#include "wrap/collnet_plugin.h"
#include "wrap/export.h"
#include "wrap/net_plugin.h"

extern "C" {
TOPOGUARD_EXPORT extern tgnccl_net_v9_t ncclNetPlugin_v9;
TOPOGUARD_EXPORT extern tgnccl_collnet_v9_t ncclCollNetPlugin_v9;

constinit tgnccl_net_v9_t ncclNetPlugin_v9 = topoguard::make_net_table<&ncclNetPlugin_v9>();
constinit tgnccl_collnet_v9_t ncclCollNetPlugin_v9 = topoguard::make_collnet_table<&ncclCollNetPlugin_v9>();
}
