// SPDX-License-Identifier: Apache-2.0
#include "stock/elf_symbols.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace topoguard {
namespace {

// A symbol table beyond this is not NCCL's, nor that of anything that links it in.
constexpr std::uint64_t kMostBytes = std::uint64_t{512} << 20;

class File {
 public:
  explicit File(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) {
    struct stat status {};
    if (fd_ >= 0 && fstat(fd_, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
      size_ = static_cast<std::uint64_t>(status.st_size);
  }
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::uint64_t size() const { return size_; }

  bool read(std::uint64_t offset, void* to, std::uint64_t length) const {
    if (offset > size_ || length > size_ - offset) return false;
    auto* out = static_cast<char*>(to);
    while (length > 0) {
      const ssize_t got = pread(fd_, out, length, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      out += got;
      offset += static_cast<std::uint64_t>(got);
      length -= static_cast<std::uint64_t>(got);
    }
    return true;
  }

  template <typename T>
  bool read_table(std::uint64_t offset, std::uint64_t bytes, std::vector<T>& to) const {
    // Checked against the file before any memory is asked for: a mad size must not become a mad allocation.
    if (bytes > kMostBytes || offset > size_ || bytes > size_ - offset) return false;
    to.resize(bytes / sizeof(T));
    return read(offset, to.data(), to.size() * sizeof(T));
  }

 private:
  int fd_;
  std::uint64_t size_ = 0;
};

void collect(const std::vector<ElfW(Sym)>& symbols, const std::vector<char>& strings,
             const std::vector<std::string_view>& names, bool from_symtab, std::vector<ElfSymbol>& found) {
  for (const auto& symbol : symbols) {
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    if ((type != STT_FUNC && type != STT_OBJECT) || symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS)
      continue;
    if (symbol.st_name >= strings.size()) continue;
    const std::size_t room = strings.size() - symbol.st_name;
    for (const auto name : names) {
      if (name.size() >= room || std::memcmp(&strings[symbol.st_name], name.data(), name.size()) != 0 ||
          strings[symbol.st_name + name.size()] != '\0')
        continue;
      const bool known = std::any_of(found.begin(), found.end(), [&](const ElfSymbol& earlier) {
        return earlier.name == name && (earlier.value == symbol.st_value || earlier.from_symtab != from_symtab);
      });
      if (!known) found.push_back({std::string(name), symbol.st_value, symbol.st_size, type == STT_FUNC, from_symtab});
    }
  }
}

bool same_headers(const File& file, const ElfW(Ehdr) & header, const std::vector<ElfW(Phdr)>& loaded) {
  if (header.e_phentsize != sizeof(ElfW(Phdr)) || header.e_phnum != loaded.size()) return false;
  std::vector<ElfW(Phdr)> on_disk;
  return file.read_table(header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(ElfW(Phdr)), on_disk) &&
         std::memcmp(on_disk.data(), loaded.data(), loaded.size() * sizeof(ElfW(Phdr))) == 0;
}

}  // namespace

ElfSearch find_symbols(const std::string& path, const std::vector<std::string_view>& names,
                       const std::vector<ElfW(Phdr)>& loaded) {
  ElfSearch search;
  const auto problem = [&search](const char* text) {
    search.problem = text;
    return search;
  };
  const File file(path);
  if (file.size() == 0) return problem("the file cannot be read");
  ElfW(Ehdr) header{};
  if (!file.read(0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32) ||
      header.e_ident[EI_DATA] != ELFDATA2LSB)
    return problem("the file is no ELF object of this machine");
  if (!loaded.empty() && !same_headers(file, header, loaded))
    return problem("the file on disk is not the one that was loaded");
  std::vector<ElfW(Shdr)> sections;
  if (header.e_shoff == 0 || header.e_shentsize != sizeof(ElfW(Shdr)) ||
      !file.read_table(header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(ElfW(Shdr)), sections))
    return problem("its section table is missing or cut off");
  for (const unsigned wanted : {SHT_SYMTAB, SHT_DYNSYM}) {
    for (const auto& section : sections) {
      if (section.sh_type != wanted || section.sh_entsize != sizeof(ElfW(Sym)) || section.sh_link >= sections.size())
        continue;
      const auto& linked = sections[section.sh_link];
      std::vector<ElfW(Sym)> symbols;
      std::vector<char> strings;
      if (linked.sh_type != SHT_STRTAB || !file.read_table(section.sh_offset, section.sh_size, symbols) ||
          !file.read_table(linked.sh_offset, linked.sh_size, strings))
        continue;
      collect(symbols, strings, names, wanted == SHT_SYMTAB, search.found);
    }
  }
  return search;
}

}  // namespace topoguard
