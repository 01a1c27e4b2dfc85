/* SPDX-License-Identifier: Apache-2.0
 * Between the replaced functions (calls.c, memory.c) and the plan (inject.c). */
#pragma once

/* What this call does: 0 as always, else an errno or a FAULTS_ value. `function` is static; `path` may be NULL. */
int faults_decide(unsigned kind, const char* function, const char* path, const void* caller);

/* The same for the same seed and number. */
unsigned long faults_random(unsigned long number);
