/* SPDX-License-Identifier: Apache-2.0
 * Linked with the stand-in for NCCL: calls each of the seven functions and prints what arrived and what came back. */
#include <stdio.h>
#include <string.h>

#include "stand_in.h"

static int check(int result, const void* comm, const void* wanted) {
  printf("%s = %d%s\n", stand_in_seen, result, comm == wanted ? "" : ", communicator lost");
  return 0;
}

int main(void) {
  struct unique_id ids[2];
  memset(ids, 0, sizeof ids);
  strcpy(ids[1].bytes, "second");
  char config[] = "config", parent[] = "parent";
  int numbers[] = {4, 5, 6};
  void* comm = NULL;
  int result = ncclGetUniqueId(&ids[0]);
  check(result, NULL, NULL);
  result = ncclCommInitRank(&comm, 8, ids[0], 3);
  check(result, comm, stand_in_seen);
  comm = NULL;
  result = ncclCommInitRankConfig(&comm, 8, ids[1], 2, config);
  check(result, comm, stand_in_seen);
  comm = NULL;
  result = ncclCommInitRankScalable(&comm, 9, 1, 2, ids, config);
  check(result, comm, stand_in_seen);
  comm = NULL;
  result = ncclCommInitAll(&comm, 3, numbers);
  check(result, comm, stand_in_seen);
  comm = NULL;
  result = ncclCommSplit(parent, 7, -1, &comm, config);
  check(result, comm, stand_in_seen);
  comm = NULL;
  result = ncclCommShrink(parent, numbers, 2, &comm, config, 1);
  return check(result, comm, stand_in_seen);
}
