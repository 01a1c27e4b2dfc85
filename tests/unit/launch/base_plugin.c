/* SPDX-License-Identifier: Apache-2.0
 * A net plugin that brings more than a net, for companions_test.cc. Its constructor would be noticed if it ran. */
#include <stdlib.h>

#define TABLE(name) __attribute__((visibility("default"))) int name = 1
TABLE(ncclNetPlugin_v8);
TABLE(ncclTunerPlugin_v3);
TABLE(ncclProfiler_v4);
TABLE(ncclGinPlugin_v13);
TABLE(ncclRmaPlugin_v13);
__attribute__((constructor)) static void loaded(void) { abort(); }
