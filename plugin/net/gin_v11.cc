// SPDX-License-Identifier: Apache-2.0
#include "wrap/export.h"
#include "wrap/gin.h"

extern "C" {
TOPOGUARD_EXPORT extern tgnccl_gin_v11_t ncclGinPlugin_v11;

constinit tgnccl_gin_v11_t ncclGinPlugin_v11 = topoguard::make_gin_table();
}
