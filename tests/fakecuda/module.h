// SPDX-License-Identifier: Apache-2.0
//
// Loaded objects that carry a CUDA runtime inside them (libnccl.so.2 links it statically), and where its functions
// stand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fakecuda {

struct Function {
  std::string name;
  std::uintptr_t address = 0;  // in this process
  std::size_t size = 0;        // bytes, from the symbol table
};

struct Module {
  std::string path;
  std::uintptr_t base = 0;          // load bias
  std::vector<Function> functions;  // defined STT_FUNC symbols that begin with "cuda"
};

// Every object of this process that defines cudaGetDevice, by the symbols of its file (elf_symbols.h); objects whose
// file cannot be read are passed over. FAKECUDA_SYMBOLS=FILE names an unstripped file for the object that is its
// stripped copy. Call it while no other thread runs dlclose.
std::vector<Module> find_cuda_modules();

}  // namespace fakecuda
