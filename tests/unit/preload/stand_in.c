/* SPDX-License-Identifier: Apache-2.0
 * Stands for libnccl.so.2: one function that leaves a mark. */
#include <string.h>

__attribute__((visibility("default"))) int ncclGetUniqueId(void* id);
int ncclGetUniqueId(void* id) {
  strcpy(id, "stand-in");
  return 0;
}
