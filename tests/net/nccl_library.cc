// SPDX-License-Identifier: Apache-2.0
#include "nccl_library.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <stdexcept>

#include "elf_symbols.h"
#include "install.h"

namespace rig {
namespace {

struct Range {
  std::uintptr_t base;
  std::uintptr_t begin = UINTPTR_MAX;
  std::uintptr_t end = 0;
};

// What the loader maps for the object that was loaded at `base`; empty where there is none.
Range mapped_range(std::uintptr_t base) {
  Range range{base};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        auto* range = static_cast<Range*>(result);
        if (info->dlpi_addr != range->base) return 0;
        for (int index = 0; index < info->dlpi_phnum; ++index) {
          const ElfW(Phdr)& header = info->dlpi_phdr[index];
          if (header.p_type != PT_LOAD) continue;
          range->begin = std::min<std::uintptr_t>(range->begin, info->dlpi_addr + header.p_vaddr);
          range->end = std::max<std::uintptr_t>(range->end, info->dlpi_addr + header.p_vaddr + header.p_memsz);
        }
        return 1;
      },
      &range);
  return range;
}

template <class Function>
void bind(void* handle, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(handle, name));
  if (function == nullptr) throw std::runtime_error(std::string("libnccl has no ") + name);
}

}  // namespace

NcclLibrary::NcclLibrary(std::string path) : path_(std::move(path)) { open(); }

void NcclLibrary::open() {
  handle_ = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) throw std::runtime_error(dlerror());
  if (fakecuda_install() < 1)
    throw std::runtime_error(path_ + ": the CUDA runtime in it cannot be redirected (stripped?)");
  link_map* map = nullptr;
  if (dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0) throw std::runtime_error(dlerror());
  base_ = map->l_addr;
  bind(handle_, "ncclGetVersion", api_.get_version);
  bind(handle_, "ncclGetUniqueId", api_.get_unique_id);
  bind(handle_, "ncclCommInitRank", api_.init_rank);
  bind(handle_, "ncclCommInitRankConfig", api_.init_rank_config);
  bind(handle_, "ncclCommInitAll", api_.init_all);
  bind(handle_, "ncclCommSplit", api_.split);
  bind(handle_, "ncclAllReduce", api_.all_reduce);
  bind(handle_, "ncclCommDestroy", api_.destroy);
  bind(handle_, "ncclCommAbort", api_.abort);
}

int NcclLibrary::version() const {
  int version = 0;
  api_.get_version(&version);
  return version;
}

void NcclLibrary::reopen_elsewhere() {
  const Range old = mapped_range(base_);
  dlclose(handle_);
  if (mapped_range(base_).end != 0) throw std::runtime_error("libnccl is still mapped after dlclose");
  void* reserved = mmap(reinterpret_cast<void*>(old.begin), old.end - old.begin, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  // The loader may already have given part of the range to something else; then it is not free for libnccl either.
  (void)reserved;
  open();
  if (base_ == old.base) throw std::runtime_error("libnccl came back at the same address");
}

void* NcclLibrary::local_symbol(const std::string& prefix) const {
  std::uintptr_t found = 0;
  fakecuda::visit_symbols(path_, [&](fakecuda::SymbolKind, const char* name, std::uintptr_t value, std::size_t) {
    const std::string text = name;
    if (found == 0 && text.rfind(prefix, 0) == 0 && text.find(".cold") == std::string::npos) found = value;
  });
  return found == 0 ? nullptr : reinterpret_cast<void*>(base_ + found);
}

}  // namespace rig
