// SPDX-License-Identifier: Apache-2.0
//
// The symbols of an ELF file, local ones included, for reaching what a library does not export.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace fakecuda {

enum class SymbolKind { function, object };

// Calls `visit` with each defined function and object: its kind, its name (valid during the call), its value (an
// address before the load bias) and its size. Reads .symtab, or .dynsym where the file is stripped. False: the file
// cannot be read as ELF.
bool visit_symbols(
    const std::string& path,
    const std::function<void(SymbolKind, const char* name, std::uintptr_t value, std::size_t size)>& visit);

// The GNU build id, which strip leaves alone; empty where there is none.
std::string build_id(const std::string& path);

}  // namespace fakecuda
