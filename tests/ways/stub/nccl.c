/* SPDX-License-Identifier: Apache-2.0
 * Stands for libnccl.so.2 when a test program is linked, so that building needs no NCCL. Never run: the rows put the
 * real library's folder into LD_LIBRARY_PATH. */
#define EXPORT __attribute__((visibility("default")))
#define STUB(name)       \
  EXPORT int name(void); \
  int name(void) { return 2; }
STUB(ncclGetVersion)
STUB(ncclGetUniqueId)
STUB(ncclCommInitRank)
STUB(ncclCommInitRankConfig)
STUB(ncclCommInitAll)
STUB(ncclCommSplit)
STUB(ncclAllReduce)
STUB(ncclCommDestroy)
STUB(ncclCommAbort)
