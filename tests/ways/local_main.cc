// SPDX-License-Identifier: Apache-2.0
// A program that opens a library with RTLD_LOCAL which is linked with NCCL, as Python opens PyTorch: NCCL is in no
// global scope. WAYS_LIBRARY is the library's path.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  const char* const path = std::getenv("WAYS_LIBRARY");
  void* const library = path != nullptr ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  auto* const run =
      library != nullptr ? reinterpret_cast<int (*)(int, char**)>(dlsym(library, "linked_rank")) : nullptr;
  if (run == nullptr) {
    std::fprintf(stderr, "%s: %s\n", path != nullptr ? path : "WAYS_LIBRARY is not set", dlerror());
    return 2;
  }
  return run(argc, argv);
}
