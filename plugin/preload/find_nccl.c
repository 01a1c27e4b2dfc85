/* SPDX-License-Identifier: Apache-2.0
 * Finds the NCCL function that a caller would have reached without us, as the dynamic linker searches: the global
 * scope, then the caller's own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "shim.h"

/* The scope of a library opened with RTLD_LOCAL (as Python opens extension modules): itself and what it links. The
 * global scope has no NCCL then, so RTLD_NEXT finds nothing. */
static void* in_scope_of(const void* caller, const char* function) {
  Dl_info info;
  if (dladdr(caller, &info) == 0 || info.dli_fname == NULL || info.dli_fname[0] == '\0') return NULL;
  void* const object = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (object == NULL) return NULL; /* the program itself: its scope is the global one */
  void* const symbol = dlsym(object, function);
  dlclose(object); /* takes back the reference that RTLD_NOLOAD added */
  return symbol;
}

struct search {
  const char* function;
  void* symbol;
};

static int look_into(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  struct search* const search = data;
  const char* const slash = info->dlpi_name != NULL ? strrchr(info->dlpi_name, '/') : NULL;
  if (slash == NULL || strncmp(slash + 1, "libnccl.so", strlen("libnccl.so")) != 0) return 0;
  void* const object = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  if (object == NULL) return 0;
  search->symbol = dlsym(object, search->function);
  dlclose(object);
  return search->symbol != NULL;
}

static bool ours(const void* symbol) {
  Dl_info there, here;
  return dladdr(symbol, &there) != 0 && dladdr((const void*)(uintptr_t)&ours, &here) != 0 &&
         there.dli_fbase == here.dli_fbase;
}

topoguard_function_t topoguard_real(const char* function, const void* caller) {
  void* symbol = dlsym(RTLD_NEXT, function);
  if (symbol == NULL) symbol = in_scope_of(caller, function);
  if (symbol == NULL || ours(symbol)) {
    /* Code that asked dlsym(RTLD_DEFAULT) and got us, while NCCL is in a scope of its own. */
    struct search search = {function, NULL};
    dl_iterate_phdr(look_into, &search);
    symbol = search.symbol;
  }
  return symbol != NULL && !ours(symbol) ? (topoguard_function_t)(uintptr_t)symbol : NULL;
}
