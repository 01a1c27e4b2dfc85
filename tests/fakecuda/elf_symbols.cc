// SPDX-License-Identifier: Apache-2.0
#include "elf_symbols.h"

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

namespace fakecuda {
namespace {

struct ElfFile {
  explicit ElfFile(const char* path) : fd(open(path, O_RDONLY | O_CLOEXEC)) {
    elf_version(EV_CURRENT);
    if (fd >= 0) elf = elf_begin(fd, ELF_C_READ_MMAP, nullptr);
  }
  ~ElfFile() {
    if (elf != nullptr) elf_end(elf);
    if (fd >= 0) close(fd);
  }
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  int fd;
  Elf* elf = nullptr;
};

Elf_Scn* find_section(Elf* elf, unsigned type, GElf_Shdr* header) {
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    if (gelf_getshdr(section, header) != nullptr && header->sh_type == type) break;
  }
  return section;
}

}  // namespace

bool visit_symbols(const std::string& path,
                   const std::function<void(SymbolKind, const char*, std::uintptr_t, std::size_t)>& visit) {
  ElfFile file(path.c_str());
  if (file.elf == nullptr || elf_kind(file.elf) != ELF_K_ELF) return false;
  GElf_Shdr header;
  Elf_Scn* section = find_section(file.elf, SHT_SYMTAB, &header);
  if (section == nullptr) section = find_section(file.elf, SHT_DYNSYM, &header);
  Elf_Data* data = section == nullptr ? nullptr : elf_getdata(section, nullptr);
  if (data == nullptr) return false;
  GElf_Sym symbol;
  for (int index = 0; gelf_getsym(data, index, &symbol) != nullptr; ++index) {
    const auto type = GELF_ST_TYPE(symbol.st_info);
    if (symbol.st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_OBJECT)) continue;
    const char* name = elf_strptr(file.elf, header.sh_link, symbol.st_name);
    if (name == nullptr) continue;
    visit(type == STT_FUNC ? SymbolKind::function : SymbolKind::object, name, symbol.st_value, symbol.st_size);
  }
  return true;
}

std::string build_id(const std::string& path) {
  ElfFile file(path.c_str());
  if (file.elf == nullptr || elf_kind(file.elf) != ELF_K_ELF) return {};
  GElf_Shdr header;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(file.elf, section)) != nullptr;) {
    Elf_Data* data = nullptr;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_NOTE) continue;
    if ((data = elf_getdata(section, nullptr)) == nullptr) continue;
    GElf_Nhdr note;
    std::size_t name = 0, description = 0, offset = 0;
    while ((offset = gelf_getnote(data, offset, &note, &name, &description)) != 0) {
      if (note.n_type == NT_GNU_BUILD_ID) return {static_cast<char*>(data->d_buf) + description, note.n_descsz};
    }
  }
  return {};
}

}  // namespace fakecuda
