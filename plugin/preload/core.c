/* SPDX-License-Identifier: Apache-2.0
 * Opens the plugin library when the process first calls NCCL, and hands calls on to it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "shim.h"

enum { CLOSED, OPENING, OPEN, UNAVAILABLE };
static atomic_int state = CLOSED;
static const topoguard_hooks_t* hooks;

static void complain(const char* path, const char* why) {
  dprintf(2,
          "topoguard: cannot use %s: %s. The job goes on without topoguard's preload part; reinstall topoguard "
          "so that libtopoguard.so and libnccl-net-topoguard.so lie in one folder.\n",
          path, why != NULL ? why : "unknown reason");
}

static const topoguard_hooks_t* open_library(void) {
  char path[4096 + 64];
  strcpy(path, topoguard_directory);
  strcat(path, "libnccl-net-topoguard.so");
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    complain(path, dlerror());
    return NULL;
  }
  const topoguard_env_v1_t* const table = dlsym(library, "ncclEnvPlugin_v1");
  if (table == NULL || table->hooks.magic != TOPOGUARD_HOOKS_MAGIC || table->hooks.version != TOPOGUARD_HOOKS_VERSION) {
    complain(path, "it is of another version than libtopoguard.so");
    dlclose(library);
    return NULL;
  }
  return &table->hooks; /* never closed: linked with -z nodelete */
}

void topoguard_before(const topoguard_call_t* call) {
  if (topoguard_directory[0] == '\0') return;
  int seen = CLOSED;
  if (atomic_compare_exchange_strong(&state, &seen, OPENING)) {
    hooks = open_library();
    atomic_store(&state, hooks != NULL ? OPEN : UNAVAILABLE);
  } else if (seen == OPENING) {
    /* Another thread is at it. Bounded: a child forked at that moment has the state, but not the thread. */
    const struct timespec pause = {0, 1000000};
    for (int waited = 0; waited < 10000 && atomic_load(&state) == OPENING; ++waited) nanosleep(&pause, NULL);
  }
  if (atomic_load(&state) == OPEN) hooks->before(call);
}
