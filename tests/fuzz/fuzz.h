// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets share. Each target is one libFuzzer program: LLVMFuzzerTestOneInput takes any bytes, must not
// crash, hang or leak, and checks what must hold whatever the bytes are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace topoguard::fuzz {

/// Ends the run with a report where `holds` is false.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Printable: no control character reaches a terminal or a log.
inline bool is_printable(std::string_view line) {
  for (const char c : line)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  return true;
}

}  // namespace topoguard::fuzz

#define FUZZ_TARGET extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
