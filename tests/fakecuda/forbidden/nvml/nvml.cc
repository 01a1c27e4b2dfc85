// SPDX-License-Identifier: Apache-2.0
//
// libnvidia-ml.so.1 for test programs that load topoguard without NCCL: nobody may initialise NVML. Whole jobs
// use the fake NVML instead, which forbids by caller (FAKECUDA_NVML_FORBID), because NCCL itself needs one.
#include "../caller.h"

#define FORBIDDEN(name)                                            \
  extern "C" __attribute__((visibility("default"))) int name(...); \
  extern "C" int name(...) { fakecuda::forbid(#name, __builtin_return_address(0)); }

FORBIDDEN(nvmlInit)
FORBIDDEN(nvmlInit_v2)
FORBIDDEN(nvmlInitWithFlags)
