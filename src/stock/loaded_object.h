// SPDX-License-Identifier: Apache-2.0
// A shared object (or the program itself) as the dynamic linker mapped it: the proof ground for every address that is
// taken from a file or found by search.
//
// Thread-safety: values; the functions take the linker's own lock for a moment.
#pragma once

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace topoguard {

struct Segment {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool readable = false;
  bool writable = false;
  bool executable = false;
};

struct LoadedObject {
  std::string path;         ///< as the linker has it; "/proc/self/exe" for the program itself
  std::uintptr_t base = 0;  ///< added to a symbol's value gives its address
  std::vector<Segment> segments;
  std::vector<ElfW(Phdr)> headers;  ///< program headers in memory, to tell whether the file on disk is still this one

  bool readable(std::uintptr_t address, std::size_t length) const;
  bool writable(std::uintptr_t address, std::size_t length) const;
  bool executable(std::uintptr_t address) const;
  /// True where a NUL-terminated string equal to `text` lies wholly inside a readable segment.
  bool has_string(std::uintptr_t address, std::string_view text) const;
};

/// The object that contains this address; nullopt where none does (generated code, a library that is gone).
std::optional<LoadedObject> object_of(const void* address);

/// Is an object with this path still mapped at this base?
bool still_loaded(const LoadedObject& object);

/// Same file at the same place. One NCCL object keeps one state.
inline bool same_object(const LoadedObject& a, const LoadedObject& b) { return a.base == b.base && a.path == b.path; }

}  // namespace topoguard
