/* SPDX-License-Identifier: Apache-2.0
 * The seven functions by which a job enters NCCL, as nccl.h declares them (NCCL 2.18 to 2.30). */
#pragma once

struct unique_id {
  char bytes[128];
};

extern char stand_in_seen[256]; /* name and arguments of the last call */

int ncclGetUniqueId(struct unique_id* id);
int ncclCommInitRank(void** comm, int ranks, struct unique_id id, int rank);
int ncclCommInitRankConfig(void** comm, int ranks, struct unique_id id, int rank, void* config);
int ncclCommInitRankScalable(void** comm, int ranks, int rank, int id_count, struct unique_id* ids, void* config);
int ncclCommInitAll(void** comms, int devices, const int* list);
int ncclCommSplit(void* comm, int color, int key, void** child, void* config);
int ncclCommShrink(void* comm, int* excluded, int excluded_count, void** child, void* config, int flags);
