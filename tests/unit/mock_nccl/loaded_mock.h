// SPDX-License-Identifier: Apache-2.0
// A mock NCCL object, loaded for as long as this lives.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "mock_nccl.h"

class LoadedMock {
 public:
  /// "2.28", "stripped_2.28", "twins"; or a path.
  explicit LoadedMock(const std::string& name) : path(name.find('/') == std::string::npos ? place(name) : name) {
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) throw std::runtime_error(dlerror());
    mock = reinterpret_cast<MockAccess>(dlsym(handle, "mock_access"))();
    logger = reinterpret_cast<MockLogger>(dlsym(handle, "mock_logger"))();
  }
  ~LoadedMock() { unload(); }
  LoadedMock(const LoadedMock&) = delete;
  LoadedMock& operator=(const LoadedMock&) = delete;

  void unload() {
    if (handle != nullptr) dlclose(handle);
    handle = nullptr;
  }
  const void* inside() const { return reinterpret_cast<const void*>(logger); }

  static std::string place(const std::string& name) {
    const char* directory = std::getenv("MOCK_DIR");
    return std::string(directory != nullptr ? directory : ".") + "/mock_nccl_" + name + ".so";
  }

  std::string path;
  void* handle = nullptr;
  Mock* mock = nullptr;
  tgnccl_logger_t logger = nullptr;
};
