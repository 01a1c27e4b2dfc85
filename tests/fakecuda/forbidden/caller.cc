// SPDX-License-Identifier: Apache-2.0
#include "caller.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace fakecuda {

const char* object_of(void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "?";
}

void forbid(const char* function, void* address) {
  std::fprintf(stderr, "forbidden: %s was called from %s\n", function, object_of(address));
  std::abort();
}

}  // namespace fakecuda
