// SPDX-License-Identifier: Apache-2.0
#include "host/library.h"

#include <dlfcn.h>

namespace topoguard::host {

Library::Library(const Sources& sources, const char* name) : sources_(sources) {
  handle_ = sources.open_library ? sources.open_library(name) : ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

Library::~Library() {
  if (handle_ && !sources_.open_library) ::dlclose(handle_);
}

void* Library::symbol_of(const char* symbol) const {
  if (!handle_) return nullptr;
  return sources_.find_symbol ? sources_.find_symbol(handle_, symbol) : ::dlsym(handle_, symbol);
}

}  // namespace topoguard::host
