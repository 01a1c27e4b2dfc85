// SPDX-License-Identifier: Apache-2.0
//
// LD_PRELOAD front end: redirects a libnccl that the program is linked with when the program starts, and one that is
// opened later as soon as dlopen returns. A library that opens libnccl with RTLD_DEEPBIND or dlmopen is not covered.
#include <dlfcn.h>

#include "install.h"

namespace {

using DlopenFunction = void* (*)(const char*, int);

// Runs after the constructors of this library's own parts: constructors with a priority come before this one.
[[gnu::constructor]] void install_at_start() { fakecuda_install(); }

}  // namespace

extern "C" __attribute__((visibility("default"))) void* dlopen(const char* file, int mode) {
  static const auto real = reinterpret_cast<DlopenFunction>(dlsym(RTLD_NEXT, "dlopen"));
  void* handle = real(file, mode);
  if (handle != nullptr && (mode & RTLD_NOLOAD) == 0) fakecuda_install();
  return handle;
}
