/* SPDX-License-Identifier: Apache-2.0
 * What the preload library and the plugin library say to each other. The plugin library exports nothing but NCCL's
 * plugin symbols, so the hooks follow NCCL's part of ncclEnvPlugin_v1, guarded by a magic number: a library of another
 * version, or somebody else's of that name, is recognised and left alone. C11 and C++. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "nccl/env.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TOPOGUARD_HOOKS_VERSION = 1 };
#define TOPOGUARD_HOOKS_MAGIC UINT64_C(0x6b6f6f686f706f74)

/* One call of the job into NCCL, before NCCL sees it. */
typedef struct {
  const char* function; /* "ncclCommInitRank"; static */
  const void* nccl;     /* an address inside the NCCL object that will be called */
  const void* ids;      /* ncclUniqueId[id_count], TGNCCL_UNIQUE_ID_BYTES each; NULL where the call has none */
  int id_count;
  int ranks; /* of the communicator; 0 where the call does not say */
  int rank;  /* of the caller; -1 where the call does not say */
} topoguard_call_t;

typedef struct {
  uint64_t magic;   /* TOPOGUARD_HOOKS_MAGIC */
  uint32_t version; /* TOPOGUARD_HOOKS_VERSION; both sides must have the same */
  uint32_t reserved;
  void (*before)(const topoguard_call_t* call); /* never fails, never throws; any thread */
} topoguard_hooks_t;

/* What ncclEnvPlugin_v1 really is in the plugin library. */
typedef struct {
  tgnccl_env_v1_t nccl;
  topoguard_hooks_t hooks;
} topoguard_env_v1_t;
static_assert(offsetof(topoguard_env_v1_t, hooks) == sizeof(tgnccl_env_v1_t), "NCCL's part comes first");

#ifdef __cplusplus
}
#endif
