// SPDX-License-Identifier: Apache-2.0
#include "wrap/collnet_plugin.h"
#include "wrap/export.h"
#include "wrap/net_plugin.h"

extern "C" {
TOPOGUARD_EXPORT extern tgnccl_net_v6_t ncclNetPlugin_v6;
TOPOGUARD_EXPORT extern tgnccl_collnet_v6_t ncclCollNetPlugin_v6;

constinit tgnccl_net_v6_t ncclNetPlugin_v6 = topoguard::make_net_table<&ncclNetPlugin_v6>();
constinit tgnccl_collnet_v6_t ncclCollNetPlugin_v6 = topoguard::make_collnet_table<&ncclCollNetPlugin_v6>();
}
