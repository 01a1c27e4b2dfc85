/* SPDX-License-Identifier: Apache-2.0
 * What a process with libtopoguard.so in it does and sees. One word says which hazard: see hazards.py. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static int show(void) {
  for (char** variable = environ; *variable != NULL; ++variable)
    if (strncmp(*variable, "NCCL_", 5) == 0) puts(*variable);
  return 0;
}

static int status_of(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

static int forks(void) {
  pid_t child = fork();
  if (child == 0) _exit(getenv("NCCL_NET_PLUGIN") != NULL ? 0 : 1);
  if (status_of(child) != 0) return 1;
  child = vfork();
  if (child == 0) {
    execl("/bin/true", "true", (char*)NULL);
    _exit(1);
  }
  if (status_of(child) != 0) return 2;
  char* arguments[] = {"true", NULL};
  if (posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ) != 0) return 3;
  return status_of(child);
}

static int changes(void) {
  if (setenv("NCCL_NET_PLUGIN", "mine", 1) != 0 || strcmp(getenv("NCCL_NET_PLUGIN"), "mine") != 0) return 1;
  if (unsetenv("NCCL_ENV_PLUGIN") != 0 || getenv("NCCL_ENV_PLUGIN") != NULL) return 2;
  static char mine[] = "NCCL_DEBUG=WARN";
  if (putenv(mine) != 0 || strcmp(getenv("NCCL_DEBUG"), "WARN") != 0) return 3;
  for (int i = 0; i < 1000; ++i) {
    char name[32];
    snprintf(name, sizeof name, "PROBE_%d", i);
    if (setenv(name, "x", 1) != 0) return 4;
  }
  if (getenv("PROBE_999") == NULL || strcmp(getenv("NCCL_NET_PLUGIN"), "mine") != 0) return 5;
  return clearenv() == 0 && getenv("NCCL_NET_PLUGIN") == NULL ? 0 : 6;
}

static void* allocate(void* unused) {
  (void)unused;
  for (int i = 1; i < 20000; ++i) {
    char* memory = malloc((size_t)(i % 4096) + 1);
    if (memory == NULL) return (void*)1;
    memset(memory, i, (size_t)(i % 4096) + 1);
    free(memory);
  }
  return NULL;
}

static int allocates(void) {
  pthread_t threads[4];
  void* result = NULL;
  for (int i = 0; i < 4; ++i)
    if (pthread_create(&threads[i], NULL, allocate, NULL) != 0) return 1;
  for (int i = 0; i < 4; ++i)
    if (pthread_join(threads[i], &result) != 0 || result != NULL) return 2;
  return forks();
}

/* argv[2]: a stand-in for libnccl, opened so that nothing global has it. Prints what the call returned. */
static int calls(const char* library) {
  int (*function)(void*) = NULL;
  char id[128] = {0};
  if (library != NULL && dlopen(library, RTLD_NOW | RTLD_LOCAL) == NULL) return 98;
  *(void**)&function = dlsym(RTLD_DEFAULT, "ncclGetUniqueId");
  if (function == NULL) return 97;
  printf("%d %s\n", function(id), id);
  return 0;
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "show") == 0) return show();
  if (strcmp(what, "forks") == 0) return forks();
  if (strcmp(what, "changes") == 0) return changes();
  if (strcmp(what, "allocates") == 0) return allocates();
  if (strcmp(what, "calls") == 0) return calls(argc > 2 ? argv[2] : NULL);
  return 96;
}
