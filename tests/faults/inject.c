/* SPDX-License-Identifier: Apache-2.0
 * Which call fails, and how. The functions themselves are in calls.c. */
#define _GNU_SOURCE
#include "inject.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decide.h"

#define EXPORT __attribute__((visibility("default")))

enum { MOST_OBJECTS = 256 };

static struct faults_plan plan;
static bool active;
static long calls;
static long injected;
static const char* last_function = "";
static struct faults_call* listed;
static size_t listed_room;

/* Loaded objects, so that a caller is known by its address. Objects only come; nothing here is unloaded. */
static struct {
  uintptr_t begin, end;
  bool ours;
} objects[MOST_OBJECTS];
static int object_count;
static __thread bool inside;

static bool is_ours_by_name(const char* path) {
  const char* const slash = strrchr(path, '/');
  const char* const name = slash != NULL ? slash + 1 : path;
  return strncmp(name, "libnccl-net-topoguard", 21) == 0 || strncmp(name, "libnl-", 6) == 0 ||
         strncmp(name, "libhwloc", 8) == 0;
}

static int add_object(struct dl_phdr_info* info, size_t size, void* count) {
  uintptr_t begin = UINTPTR_MAX, end = 0;
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* const part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD) continue;
    if (info->dlpi_addr + part->p_vaddr < begin) begin = info->dlpi_addr + part->p_vaddr;
    if (info->dlpi_addr + part->p_vaddr + part->p_memsz > end) end = info->dlpi_addr + part->p_vaddr + part->p_memsz;
  }
  int* const at = count;
  if (*at == MOST_OBJECTS || begin >= end) return 0;
  objects[*at].begin = begin;
  objects[*at].end = end;
  objects[*at].ours = is_ours_by_name(info->dlpi_name != NULL ? info->dlpi_name : "");
  ++*at;
  return 0;
}

static int object_of(uintptr_t address) {
  const int count = __atomic_load_n(&object_count, __ATOMIC_ACQUIRE);
  for (int i = 0; i < count; ++i)
    if (address >= objects[i].begin && address < objects[i].end) return i;
  return -1;
}

static bool called_by_us(const void* caller) {
  int at = object_of((uintptr_t)caller);
  if (at < 0) {
    /* Two threads may fill the array at once: with the same, in the same order. */
    int count = 0;
    dl_iterate_phdr(add_object, &count);
    __atomic_store_n(&object_count, count, __ATOMIC_RELEASE);
    at = object_of((uintptr_t)caller);
  }
  return at >= 0 && objects[at].ours;
}

unsigned long faults_random(unsigned long number) {
  unsigned long x = plan.seed * 0x9E3779B97F4A7C15ul + number * 0xD1B54A32D192ED03ul + 0x94D049BB133111EBul;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ul;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBul;
  return x ^ (x >> 31);
}

static unsigned long class_of(const char* function, const char* path, const void* caller) {
  unsigned long mixed = 5381;
  for (const char* c = function; *c != '\0'; ++c) mixed = mixed * 33 + (unsigned char)*c;
  if (path == NULL) return mixed * 33 + (unsigned long)caller;
  for (const char* c = path; *c != '\0'; ++c)
    if (*c < '0' || *c > '9') mixed = mixed * 33 + (unsigned char)*c;
  return mixed;
}

int faults_decide(unsigned kind, const char* function, const char* path, const void* caller) {
  /* Reads carry no name: they belong to what was opened last. */
  static __thread char opened[128];
  if (!__atomic_load_n(&active, __ATOMIC_ACQUIRE) || (plan.kinds & kind) == 0 || inside) return 0;
  inside = true;
  int what = 0;
  if (called_by_us(caller)) {
    if (path != NULL && kind == FAULTS_CALLS) {
      strncpy(opened, path, sizeof opened - 1);
    }
    const long number = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    if (listed != NULL && (size_t)number <= listed_room) {
      listed[number - 1].function = function;
      listed[number - 1].same = class_of(function, kind == FAULTS_CALLS ? opened : NULL, caller);
    }
    const unsigned long drawn = faults_random((unsigned long)number);
    if (number == plan.at || (plan.rate != 0 && drawn % plan.rate == 0)) {
      static const int any[] = {EPERM, ENOENT, EMFILE,       ENOMEM,         EINTR,
                                EIO,   EAGAIN, FAULTS_SHORT, FAULTS_GARBAGE, FAULTS_FLIPPED};
      what = plan.what == FAULTS_ANY || plan.rate != 0 ? any[(drawn >> 32) % (sizeof any / sizeof *any)] : plan.what;
      __atomic_add_fetch(&injected, 1, __ATOMIC_RELAXED);
      last_function = function;
    }
  }
  inside = false;
  return what;
}

EXPORT void faults_begin(const struct faults_plan* next) {
  plan = *next;
  calls = injected = 0;
  last_function = "";
  __atomic_store_n(&active, true, __ATOMIC_RELEASE);
}

EXPORT struct faults_report faults_end(void) {
  __atomic_store_n(&active, false, __ATOMIC_RELEASE);
  const struct faults_report report = {calls, injected, last_function};
  return report;
}

EXPORT void faults_list(struct faults_call* into, size_t room) {
  listed = into;
  listed_room = room;
}

static unsigned long number_after(const char* text, const char* name) {
  const char* const found = text != NULL ? strstr(text, name) : NULL;
  return found != NULL ? strtoul(found + strlen(name), NULL, 10) : 0;
}

__attribute__((constructor)) static void start(void) {
  const char* const text = getenv("FAULTS");
  if (text == NULL) return;
  struct faults_plan wanted = {FAULTS_CALLS | FAULTS_MEMORY, 0, FAULTS_ANY, 0, 0};
  wanted.seed = number_after(text, "seed=");
  wanted.rate = (unsigned)number_after(text, "rate=");
  if (number_after(text, "kinds=") != 0) wanted.kinds = (unsigned)number_after(text, "kinds=");
  faults_begin(&wanted);
}

__attribute__((destructor)) static void stop(void) {
  const char* const path = getenv("FAULTS_REPORT");
  if (path == NULL || !active) return;
  const struct faults_report report = faults_end();
  char line[96];
  const int length = snprintf(line, sizeof line, "calls %ld injected %ld\n", report.calls, report.injected);
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd >= 0 && length > 0 && write(fd, line, (size_t)length) < 0) perror(path);
  if (fd >= 0) close(fd);
}
