// SPDX-License-Identifier: Apache-2.0
//
// libcuda.so.1 for tests: nobody may initialise CUDA through it. NCCL in the rig reaches its driver functions by the
// redirect (fakecuda), so this library stands in the search path of whole jobs too.
#include "../caller.h"

#define FORBIDDEN(name)                                            \
  extern "C" __attribute__((visibility("default"))) int name(...); \
  extern "C" int name(...) { fakecuda::forbid(#name, __builtin_return_address(0)); }

FORBIDDEN(cuInit)
FORBIDDEN(cuDeviceGet)
FORBIDDEN(cuDeviceGetCount)
FORBIDDEN(cuCtxCreate_v2)
FORBIDDEN(cuCtxSetCurrent)
FORBIDDEN(cuDevicePrimaryCtxRetain)
FORBIDDEN(cuGetProcAddress)
FORBIDDEN(cuGetProcAddress_v2)
