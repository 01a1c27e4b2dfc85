/* SPDX-License-Identifier: Apache-2.0
 * Memory that is refused. glibc's own allocator under its other names does the work, so free() needs no replacement. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decide.h"
#include "inject.h"

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* old, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);

#define EXPORT __attribute__((visibility("default")))
#define REFUSED() (faults_decide(FAULTS_MEMORY, __func__, NULL, __builtin_return_address(0)) != 0 && (errno = ENOMEM))

EXPORT void* malloc(size_t size) { return REFUSED() ? NULL : __libc_malloc(size); }
EXPORT void* calloc(size_t count, size_t size) { return REFUSED() ? NULL : __libc_calloc(count, size); }
EXPORT void* realloc(void* old, size_t size) { return REFUSED() ? NULL : __libc_realloc(old, size); }
EXPORT void* memalign(size_t alignment, size_t size) { return REFUSED() ? NULL : __libc_memalign(alignment, size); }
EXPORT void* aligned_alloc(size_t alignment, size_t size) {
  return REFUSED() ? NULL : __libc_memalign(alignment, size);
}

EXPORT int posix_memalign(void** out, size_t alignment, size_t size) {
  if (REFUSED()) return ENOMEM;
  *out = __libc_memalign(alignment, size);
  return *out != NULL ? 0 : ENOMEM;
}

EXPORT char* strdup(const char* text) {
  const size_t length = strlen(text) + 1;
  char* const copy = REFUSED() ? NULL : __libc_malloc(length);
  return copy != NULL ? memcpy(copy, text, length) : NULL;
}
