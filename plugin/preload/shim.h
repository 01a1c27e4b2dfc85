/* SPDX-License-Identifier: Apache-2.0
 * The parts of the preload library. It lives in every process of a container, so it is C, has no runtime but libc,
 * allocates nothing, opens nothing and starts nothing until the process calls NCCL. */
#pragma once

#include <stdbool.h>

#include "hooks.h"

/* publish.c: valid after the constructor. Directory of this library, absolute, with its closing slash; "" where it is
 * not known, is too long, or nothing may be done (secure execution, TOPOGUARD_MODE=off). */
extern char topoguard_directory[];

/* core.c: tells the plugin library of a call; opens it the first time. Never fails. */
void topoguard_before(const topoguard_call_t* call);

/* find_nccl.c: the function that the code at `caller` would have reached without this library; NULL where there is
 * none. Not cached: a process can hold several NCCLs, and close them. */
typedef void (*topoguard_function_t)(void); /* to be cast to what it is */
topoguard_function_t topoguard_real(const char* function, const void* caller);
