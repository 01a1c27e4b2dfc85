/* SPDX-License-Identifier: Apache-2.0
 * Stands for libnccl.so.2: the seven functions, each of which says what it was given. */
#include "stand_in.h"

#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT char stand_in_seen[256];

EXPORT int ncclGetUniqueId(struct unique_id* id) {
  strcpy(id->bytes, "stand-in");
  strcpy(stand_in_seen, "ncclGetUniqueId");
  return 0;
}

EXPORT int ncclCommInitRank(void** comm, int ranks, struct unique_id id, int rank) {
  snprintf(stand_in_seen, sizeof stand_in_seen, "ncclCommInitRank %d %s %d", ranks, id.bytes, rank);
  *comm = stand_in_seen;
  return 11;
}

EXPORT int ncclCommInitRankConfig(void** comm, int ranks, struct unique_id id, int rank, void* config) {
  snprintf(stand_in_seen, sizeof stand_in_seen, "ncclCommInitRankConfig %d %s %d %s", ranks, id.bytes, rank,
           (const char*)config);
  *comm = stand_in_seen;
  return 12;
}

EXPORT int ncclCommInitRankScalable(void** comm, int ranks, int rank, int id_count, struct unique_id* ids,
                                    void* config) {
  snprintf(stand_in_seen, sizeof stand_in_seen, "ncclCommInitRankScalable %d %d %d %s %s", ranks, rank, id_count,
           ids[id_count - 1].bytes, (const char*)config);
  *comm = stand_in_seen;
  return 13;
}

EXPORT int ncclCommInitAll(void** comms, int devices, const int* list) {
  snprintf(stand_in_seen, sizeof stand_in_seen, "ncclCommInitAll %d %d", devices, list[devices - 1]);
  *comms = stand_in_seen;
  return 14;
}

EXPORT int ncclCommSplit(void* comm, int color, int key, void** child, void* config) {
  snprintf(stand_in_seen, sizeof stand_in_seen, "ncclCommSplit %s %d %d %s", (const char*)comm, color, key,
           (const char*)config);
  *child = stand_in_seen;
  return 15;
}

EXPORT int ncclCommShrink(void* comm, int* excluded, int excluded_count, void** child, void* config, int flags) {
  snprintf(stand_in_seen, sizeof stand_in_seen, "ncclCommShrink %s %d %d %s %d", (const char*)comm,
           excluded[excluded_count - 1], excluded_count, (const char*)config, flags);
  *child = stand_in_seen;
  return 16;
}
