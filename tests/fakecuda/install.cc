// SPDX-License-Identifier: Apache-2.0
#include "install.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "functions.h"
#include "module.h"
#include "thunk.h"

namespace fakecuda {

void* find_fake(const char* name) {
  for (const auto* fakes : {&device_fakes(), &memory_fakes(), &stream_fakes()}) {
    for (const Fake& fake : *fakes) {
      if (std::strcmp(fake.name, name) == 0) return fake.function;
    }
  }
  return nullptr;
}

namespace {

// cudaCreateChannelDesc returns a structure (the caller passes a hidden pointer) and touches no device: its own code is
// right.
bool is_redirected(const Function& function) { return function.size >= 16 && function.name != "cudaCreateChannelDesc"; }

bool redirect(const Module& module) {
  for (const Function& function : module.functions) {
    if (!is_redirected(function)) continue;
    void* thunk = counted_thunk(function.name, find_fake(function.name.c_str()));
    if (is_jump_to(function.address, thunk)) continue;
    if (!write_jump(function.address, thunk)) {
      std::fprintf(stderr, "fakecuda: %s: cannot write over %s\n", module.path.c_str(), function.name.c_str());
      return false;
    }
  }
  return true;
}

[[gnu::destructor]] void write_trace() {
  const char* path = std::getenv("FAKECUDA_TRACE");
  std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "a");
  if (file == nullptr) return;
  for (const auto& [name, calls] : call_counts()) {
    if (calls > 0) {
      std::fprintf(file, "%d %s %llu\n", static_cast<int>(getpid()), name.c_str(),
                   static_cast<unsigned long long>(calls));
    }
  }
  std::fclose(file);
}

}  // namespace
}  // namespace fakecuda

extern "C" __attribute__((visibility("default"))) int fakecuda_install(void) {
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  int redirected = 0;
  for (const fakecuda::Module& module : fakecuda::find_cuda_modules()) {
    if (!fakecuda::redirect(module)) return -1;
    ++redirected;
  }
  return redirected;
}

extern "C" __attribute__((visibility("default"))) void* fakecuda_function(const char* name) {
  return fakecuda::find_fake(name);
}
