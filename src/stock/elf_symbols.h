// SPDX-License-Identifier: Apache-2.0
// Symbols of an ELF file, local ones too: a small reader that lives in a job's process and believes nothing in the
// file. It reads with pread rather than mmap: a file that shrinks under a mapping kills the process with SIGBUS.
//
// Thread-safety: re-entrant. No descriptor stays open. Errors are values.
#pragma once

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace topoguard {

struct ElfSymbol {
  std::string name;
  std::uint64_t value = 0;  ///< relative to the load base
  std::uint64_t size = 0;
  bool function = false;     ///< else data
  bool from_symtab = false;  ///< else from .dynsym
};

struct ElfSearch {
  std::vector<ElfSymbol> found;
  std::string problem;  ///< why nothing could be read; empty where the tables were read, whatever was found
};

/// Defined functions and data objects with one of these names, from .symtab, then .dynsym. A name defined in both is
/// reported once; a name with several different values in .symtab is reported that often (the caller must tell).
/// `loaded` are the program headers in memory: a file with others was replaced since it was loaded and is not used.
ElfSearch find_symbols(const std::string& path, const std::vector<std::string_view>& names,
                       const std::vector<ElfW(Phdr)>& loaded);

}  // namespace topoguard
