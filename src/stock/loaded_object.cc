// SPDX-License-Identifier: Apache-2.0
#include "stock/loaded_object.h"

#include <cstring>
#include <new>

namespace topoguard {
namespace {

// Subtraction instead of addition: address + length may wrap around.
bool inside(const Segment& segment, std::uintptr_t address, std::size_t length) {
  return address >= segment.begin && address < segment.end && length <= segment.end - address;
}

LoadedObject describe(const dl_phdr_info& info) {
  LoadedObject object;
  object.path = info.dlpi_name != nullptr && info.dlpi_name[0] != '\0' ? info.dlpi_name : "/proc/self/exe";
  object.base = info.dlpi_addr;
  object.headers.assign(info.dlpi_phdr, info.dlpi_phdr + info.dlpi_phnum);
  for (const auto& header : object.headers) {
    if (header.p_type != PT_LOAD) continue;
    Segment segment;
    segment.begin = info.dlpi_addr + header.p_vaddr;
    segment.end = segment.begin + header.p_memsz;
    segment.readable = (header.p_flags & PF_R) != 0;
    segment.writable = (header.p_flags & PF_W) != 0;
    segment.executable = (header.p_flags & PF_X) != 0;
    if (segment.end > segment.begin) object.segments.push_back(segment);
  }
  return object;
}

struct ByAddress {
  std::uintptr_t address;
  std::optional<LoadedObject> found;
  bool no_memory;
};

struct ByPlace {
  const LoadedObject* wanted;
  bool found;
};

}  // namespace

bool LoadedObject::readable(std::uintptr_t address, std::size_t length) const {
  for (const auto& segment : segments)
    if (segment.readable && inside(segment, address, length)) return true;
  return false;
}

bool LoadedObject::writable(std::uintptr_t address, std::size_t length) const {
  for (const auto& segment : segments)
    if (segment.readable && segment.writable && inside(segment, address, length)) return true;
  return false;
}

bool LoadedObject::executable(std::uintptr_t address) const {
  for (const auto& segment : segments)
    if (segment.executable && inside(segment, address, 1)) return true;
  return false;
}

bool LoadedObject::has_string(std::uintptr_t address, std::string_view text) const {
  if (!readable(address, text.size() + 1)) return false;
  const char* bytes = reinterpret_cast<const char*>(address);
  return std::memcmp(bytes, text.data(), text.size()) == 0 && bytes[text.size()] == '\0';
}

std::optional<LoadedObject> object_of(const void* address) {
  ByAddress search{reinterpret_cast<std::uintptr_t>(address), std::nullopt, false};
  // C code calls back: nothing may be thrown through dl_iterate_phdr, and no memory is not "no object".
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) -> int {
        auto& wanted = *static_cast<ByAddress*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& header = info->dlpi_phdr[i];
          const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
          if (header.p_type != PT_LOAD || wanted.address < begin || wanted.address - begin >= header.p_memsz) continue;
          try {
            wanted.found = describe(*info);
          } catch (...) {
            wanted.no_memory = true;
          }
          return 1;
        }
        return 0;
      },
      &search);
  if (search.no_memory) throw std::bad_alloc();
  return std::move(search.found);
}

bool still_loaded(const LoadedObject& object) {
  ByPlace search{&object, false};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) -> int {
        auto& place = *static_cast<ByPlace*>(data);
        const char* path =
            info->dlpi_name != nullptr && info->dlpi_name[0] != '\0' ? info->dlpi_name : "/proc/self/exe";
        place.found = info->dlpi_addr == place.wanted->base && place.wanted->path == path;
        return place.found ? 1 : 0;
      },
      &search);
  return search.found;
}

}  // namespace topoguard
