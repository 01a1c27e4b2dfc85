// SPDX-License-Identifier: Apache-2.0
#include "module.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <unistd.h>

namespace fakecuda {
namespace {

class ElfFile {
 public:
  explicit ElfFile(const char* path) : fd_(open(path, O_RDONLY | O_CLOEXEC)) {
    elf_version(EV_CURRENT);
    if (fd_ >= 0) elf_ = elf_begin(fd_, ELF_C_READ_MMAP, nullptr);
  }
  ~ElfFile() {
    if (elf_ != nullptr) elf_end(elf_);
    if (fd_ >= 0) close(fd_);
  }
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  std::vector<Function> cuda_functions(std::uintptr_t base) {
    std::vector<Function> found = functions_in(SHT_SYMTAB, base);
    return found.empty() ? functions_in(SHT_DYNSYM, base) : found;
  }

 private:
  std::vector<Function> functions_in(unsigned section_type, std::uintptr_t base) {
    std::vector<Function> found;
    for (Elf_Scn* section = nullptr; elf_ != nullptr && (section = elf_nextscn(elf_, section)) != nullptr;) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr || header.sh_type != section_type || header.sh_entsize == 0) continue;
      Elf_Data* data = elf_getdata(section, nullptr);
      GElf_Sym symbol;
      for (int index = 0; data != nullptr && gelf_getsym(data, index, &symbol) != nullptr; ++index) {
        if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
        const char* name = elf_strptr(elf_, header.sh_link, symbol.st_name);
        if (name == nullptr || std::strncmp(name, "cuda", 4) != 0) continue;
        found.push_back({name, base + symbol.st_value, symbol.st_size});
      }
    }
    return found;
  }

  int fd_;
  Elf* elf_ = nullptr;
};

int collect(dl_phdr_info* info, std::size_t, void* result) {
  if (info->dlpi_name != nullptr && info->dlpi_name[0] == '/') {
    static_cast<std::vector<Module>*>(result)->push_back({info->dlpi_name, info->dlpi_addr, {}});
  }
  return 0;
}

}  // namespace

std::vector<Module> find_cuda_modules() {
  std::vector<Module> modules;
  dl_iterate_phdr(collect, &modules);
  for (Module& module : modules) module.functions = ElfFile(module.path.c_str()).cuda_functions(module.base);
  auto no_runtime = [](const Module& module) {
    return std::none_of(module.functions.begin(), module.functions.end(),
                        [](const Function& function) { return function.name == "cudaGetDevice"; });
  };
  modules.erase(std::remove_if(modules.begin(), modules.end(), no_runtime), modules.end());
  return modules;
}

}  // namespace fakecuda
