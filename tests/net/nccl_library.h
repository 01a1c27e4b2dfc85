// SPDX-License-Identifier: Apache-2.0
//
// A real libnccl.so.2, opened at run time with the CUDA runtime inside it redirected (fakecuda).
#pragma once

#include <cstdint>
#include <string>

#include "nccl_api.h"

namespace rig {

class NcclLibrary {
 public:
  // Opens the file RTLD_NOW | RTLD_LOCAL and redirects it. Throws std::runtime_error where either fails.
  explicit NcclLibrary(std::string path);
  NcclLibrary(const NcclLibrary&) = delete;
  NcclLibrary& operator=(const NcclLibrary&) = delete;
  // Never closed at the end: threads of NCCL may outlive main.

  const NcclApi& api() const { return api_; }
  const std::string& path() const { return path_; }
  std::uintptr_t base() const { return base_; }
  int version() const;  // 22809 for 2.28.9

  // Closes the library and opens it again at another address, as programs do that load and unload a framework: the old
  // range stays reserved. Throws where the library stays mapped after dlclose.
  void reopen_elsewhere();

  // Address of a function or object that need not be exported: the first symbol, by the file's symbol table, whose name
  // begins with `prefix`, outlined ".cold" parts excepted. nullptr where there is none.
  void* local_symbol(const std::string& prefix) const;

 private:
  void open();

  std::string path_;
  void* handle_ = nullptr;
  std::uintptr_t base_ = 0;
  NcclApi api_{};
};

}  // namespace rig
