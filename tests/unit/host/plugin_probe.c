// SPDX-License-Identifier: Apache-2.0
// A library that exports what an NCCL plugin exports, for plugins_test.cc. Its constructor would be noticed if it ran.
#include <stdlib.h>

__attribute__((visibility("default"))) int ncclNetPlugin_v8 = 1;
__attribute__((visibility("default"))) int ncclNetPlugin_v10 = 1;
__attribute__((visibility("default"))) int ncclEnvPlugin_v1 = 1;
extern int ncclNetPlugin_v11;  // used, not defined
int probe(void);
__attribute__((visibility("default"))) int probe(void) { return ncclNetPlugin_v11; }
__attribute__((constructor)) static void loaded(void) { abort(); }
