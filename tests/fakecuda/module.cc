// SPDX-License-Identifier: Apache-2.0
#include "module.h"

#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "elf_symbols.h"

namespace fakecuda {
namespace {

int collect(dl_phdr_info* info, std::size_t, void* result) {
  if (info->dlpi_name != nullptr && info->dlpi_name[0] != '\0') {
    static_cast<std::vector<Module>*>(result)->push_back({info->dlpi_name, info->dlpi_addr, {}});
  }
  return 0;
}

void read_functions(Module& module, const std::string& file) {
  visit_symbols(file, [&module](SymbolKind kind, const char* name, std::uintptr_t value, std::size_t size) {
    if (kind == SymbolKind::function && std::strncmp(name, "cuda", 4) == 0) {
      module.functions.push_back({name, module.base + value, size});
    }
  });
}

// strip keeps the build id and every address, so the unstripped file speaks for its stripped copy.
void read_functions_of_twin(Module& module) {
  const char* twin = std::getenv("FAKECUDA_SYMBOLS");
  if (twin == nullptr) return;
  const std::string id = build_id(module.path);
  if (!id.empty() && id == build_id(twin)) read_functions(module, twin);
}

bool has_runtime(const Module& module) {
  return std::any_of(module.functions.begin(), module.functions.end(),
                     [](const Function& function) { return function.name == "cudaGetDevice"; });
}

}  // namespace

std::vector<Module> find_cuda_modules() {
  std::vector<Module> modules;
  dl_iterate_phdr(collect, &modules);
  for (Module& module : modules) {
    read_functions(module, module.path);
    if (!has_runtime(module)) read_functions_of_twin(module);
  }
  modules.erase(
      std::remove_if(modules.begin(), modules.end(), [](const Module& module) { return !has_runtime(module); }),
      modules.end());
  return modules;
}

}  // namespace fakecuda
