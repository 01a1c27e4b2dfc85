/* SPDX-License-Identifier: Apache-2.0
 * Makes calls of libc fail that topoguard's own library makes, chosen by their number: a library that comes before libc
 * (linked to the driver, or in LD_PRELOAD). Only calls whose caller lies in libnccl-net-topoguard.so, or in the libnl
 * and hwloc that it brings, count and fail: NCCL and the program go on undisturbed.
 *
 * Preloaded, FAULTS="seed=7,rate=40[,kinds=3]" starts a random schedule, and FAULTS_REPORT names a file that gets a
 * line "calls N injected M" when the process ends.
 *
 * Thread-safety: calls may come from any thread; begin and end from one, while none of the others is inside. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { FAULTS_CALLS = 1, FAULTS_MEMORY = 2 };

/* What a failing call does: an errno (positive), or one of these; a call that returns no data has EIO instead. */
enum {
  FAULTS_SHORT = -1,   /* one byte, or half of what there is */
  FAULTS_GARBAGE = -2, /* random bytes instead of what there is */
  FAULTS_FLIPPED = -3, /* what there is, with four bytes changed */
  FAULTS_ANY = -4      /* drawn by the seed, for each call anew */
};

struct faults_plan {
  unsigned kinds;     /* which calls count: FAULTS_CALLS, FAULTS_MEMORY or both */
  long at;            /* the call that fails, from 1; 0: none */
  int what;           /* as above; memory always is "there is none" */
  unsigned rate;      /* a random schedule: one of so many calls fails; 0: none */
  unsigned long seed; /* of what is random */
};

struct faults_report {
  long calls;           /* that counted */
  long injected;        /* that failed */
  const char* function; /* the last one that failed */
};

/* The class of a call: function and file, numbers in its name left out, or the code that called. */
struct faults_call {
  const char* function;
  unsigned long same;
};

void faults_begin(const struct faults_plan* plan);
struct faults_report faults_end(void);
/* From now on calls are listed here, up to `room`. */
void faults_list(struct faults_call* calls, size_t room);

#ifdef __cplusplus
}
#endif
