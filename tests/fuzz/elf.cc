// SPDX-License-Identifier: Apache-2.0
// A file that claims to be an ELF library: the job's own NCCL on disk, and plugins beside it.
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "fuzz.h"
#include "host/elf_versions.h"
#include "stock/elf_symbols.h"

using namespace topoguard;

FUZZ_TARGET {
  static const int file = memfd_create("elf", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) return 0;
  // The program headers "in memory" are those of the file, so that reading goes on behind that check.
  std::vector<ElfW(Phdr)> loaded;
  ElfW(Ehdr) header;
  if (size >= sizeof header) {
    std::memcpy(&header, data, sizeof header);
    for (unsigned i = 0; i < header.e_phnum && i < 64; ++i) {
      const auto at = header.e_phoff + i * sizeof(ElfW(Phdr));
      if (header.e_phoff > size || at + sizeof(ElfW(Phdr)) > size) break;
      ElfW(Phdr) entry;
      std::memcpy(&entry, data + at, sizeof entry);
      loaded.push_back(entry);
    }
  }
  for (const auto& symbol : find_symbols(path, {"ncclNetIb", "ncclNetSocket", "a"}, loaded).found)
    fuzz::require(symbol.name.size() < 16, "only names that were asked for");
  host::plugin_exports(path);
  return 0;
}
