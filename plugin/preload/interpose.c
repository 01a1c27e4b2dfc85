/* SPDX-License-Identifier: Apache-2.0
 * The functions by which a job enters NCCL, each found again where the caller would have found it. Signatures: nccl.h
 * of NCCL 2.18 to 2.30; ncclCommInitRankScalable since 2.23, ncclCommShrink since 2.27. */
#define _GNU_SOURCE
#include <stdio.h>

#include "shim.h"

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)
#define ADDRESS(function) ((const void*)(uintptr_t)(function))

typedef struct {
  char internal[TGNCCL_UNIQUE_ID_BYTES];
} unique_id;
typedef void* comm;
typedef void config;

static int missing(const char* function) {
  dprintf(2, "topoguard: %s was called, and no NCCL in this process has it\n", function);
  return tgnccl_invalid_usage;
}

EXPORT int ncclGetUniqueId(unique_id* id) {
  int (*const real)(unique_id*) = (int (*)(unique_id*))topoguard_real(__func__, CALLER);
  if (real == NULL) return missing(__func__);
  topoguard_before(&(topoguard_call_t){__func__, ADDRESS(real), NULL, 0, 0, -1});
  return real(id);
}

EXPORT int ncclCommInitRank(comm* out, int ranks, unique_id id, int rank) {
  int (*const real)(comm*, int, unique_id, int) = (int (*)(comm*, int, unique_id, int))topoguard_real(__func__, CALLER);
  if (real == NULL) return missing(__func__);
  topoguard_before(&(topoguard_call_t){__func__, ADDRESS(real), &id, 1, ranks, rank});
  return real(out, ranks, id, rank);
}

EXPORT int ncclCommInitRankConfig(comm* out, int ranks, unique_id id, int rank, config* settings) {
  int (*const real)(comm*, int, unique_id, int, config*) =
      (int (*)(comm*, int, unique_id, int, config*))topoguard_real(__func__, CALLER);
  if (real == NULL) return missing(__func__);
  topoguard_before(&(topoguard_call_t){__func__, ADDRESS(real), &id, 1, ranks, rank});
  return real(out, ranks, id, rank, settings);
}

EXPORT int ncclCommInitRankScalable(comm* out, int ranks, int rank, int id_count, unique_id* ids, config* settings) {
  int (*const real)(comm*, int, int, int, unique_id*, config*) =
      (int (*)(comm*, int, int, int, unique_id*, config*))topoguard_real(__func__, CALLER);
  if (real == NULL) return missing(__func__);
  topoguard_before(&(topoguard_call_t){__func__, ADDRESS(real), ids, id_count, ranks, rank});
  return real(out, ranks, rank, id_count, ids, settings);
}

EXPORT int ncclCommInitAll(comm* out, int devices, const int* list) {
  int (*const real)(comm*, int, const int*) = (int (*)(comm*, int, const int*))topoguard_real(__func__, CALLER);
  if (real == NULL) return missing(__func__);
  topoguard_before(&(topoguard_call_t){__func__, ADDRESS(real), NULL, 0, devices, -1});
  return real(out, devices, list);
}

EXPORT int ncclCommSplit(comm parent, int color, int key, comm* out, config* settings) {
  int (*const real)(comm, int, int, comm*, config*) =
      (int (*)(comm, int, int, comm*, config*))topoguard_real(__func__, CALLER);
  if (real == NULL) return missing(__func__);
  topoguard_before(&(topoguard_call_t){__func__, ADDRESS(real), NULL, 0, 0, -1});
  return real(parent, color, key, out, settings);
}

EXPORT int ncclCommShrink(comm parent, int* excluded, int excluded_count, comm* out, config* settings, int flags) {
  int (*const real)(comm, int*, int, comm*, config*, int) =
      (int (*)(comm, int*, int, comm*, config*, int))topoguard_real(__func__, CALLER);
  if (real == NULL) return missing(__func__);
  topoguard_before(&(topoguard_call_t){__func__, ADDRESS(real), NULL, 0, 0, -1});
  return real(parent, excluded, excluded_count, out, settings, flags);
}
