// SPDX-License-Identifier: Apache-2.0
// The one dlopen of the collectors (NVML, in the tool). Goes through Sources, so that tests bring their own library.
#pragma once

#include "host/sources.h"

namespace topoguard::host {

/// A library that is closed with the object. Empty where it cannot be opened.
class Library {
 public:
  Library(const Sources& sources, const char* name);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library();
  explicit operator bool() const { return handle_ != nullptr; }

  template <typename Function>
  Function* find(const char* symbol) const {
    return reinterpret_cast<Function*>(symbol_of(symbol));
  }

 private:
  void* symbol_of(const char* symbol) const;
  const Sources& sources_;
  void* handle_ = nullptr;
};

}  // namespace topoguard::host
