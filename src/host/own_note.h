// SPDX-License-Identifier: Apache-2.0
// The ELF note by which a file is known to be topoguard's plugin, under whatever name it was linked or copied (System V
// gABI, chapter 5, "Note Section"). The plugin carries it in the section .note.topoguard.
#pragma once

#include <cstdint>

namespace topoguard::host {

struct OwnNote {
  std::uint32_t name_bytes, description_bytes, type;
  char name[12];  // padded to a multiple of four
};

inline constexpr OwnNote kOwnNote = {10, 0, 1, "topoguard"};

}  // namespace topoguard::host
