// SPDX-License-Identifier: Apache-2.0
//
// libfakecuda.so: the CUDA runtime inside libnccl.so.2, redirected to implementations that need no GPU and no driver.
//
//   void* nccl = dlopen("libnccl.so.2", RTLD_NOW);
//   if (fakecuda_install() < 1) ...                      // then call NCCL
//
// libfakecuda-preload.so does the same by itself after every dlopen, for programs that know nothing of it. What
// devices there are: devices.h. FAKECUDA_TRACE=FILE appends "pid name calls" lines for what was called, at exit.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Redirects every loaded object that carries a CUDA runtime and is not redirected yet. Returns how many objects are
// redirected now, -1 when memory protection refused. Call it after each dlopen of libnccl and before its first use;
// thread-safe.
int fakecuda_install(void);

// The fake of a documented runtime function ("cudaMalloc"), or a null pointer: for programs that need memory or
// streams.
void* fakecuda_function(const char* name);

#ifdef __cplusplus
}
#endif
