// SPDX-License-Identifier: Apache-2.0
#include "affinity/cuda_device.h"

#include <dlfcn.h>

#include <array>
#include <cstdio>

namespace topoguard {
namespace {

// CUDA Driver API: CUresult is an int with 0 for success, CUdevice an int, CUcontext a pointer.
using GetCurrent = int (*)(void** context);
using GetDevice = int (*)(int* device);
using GetBusId = int (*)(char* text, int length, int device);

template <typename Function>
Function symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

std::optional<std::string> current_cuda_device() {
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return std::nullopt;
  std::optional<std::string> result;
  const auto get_current = symbol<GetCurrent>(library, "cuCtxGetCurrent");
  const auto get_device = symbol<GetDevice>(library, "cuCtxGetDevice");
  const auto get_bus_id = symbol<GetBusId>(library, "cuDeviceGetPCIBusId");
  void* context = nullptr;
  int device = -1;
  std::array<char, 32> text{};
  if (get_current != nullptr && get_device != nullptr && get_bus_id != nullptr && get_current(&context) == 0 &&
      context != nullptr && get_device(&device) == 0 &&
      get_bus_id(text.data(), static_cast<int>(text.size()) - 1, device) == 0)
    result = sysfs_pci_id(text.data());
  dlclose(library);  // RTLD_NOLOAD took a reference of its own
  return result;
}

std::optional<std::string> sysfs_pci_id(std::string_view text) {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned function = 0;
  int read = 0;
  const std::string copy(text);
  if (std::sscanf(copy.c_str(), "%8x:%2x:%2x.%1x%n", &domain, &bus, &device, &function, &read) != 4 ||
      static_cast<std::size_t>(read) != copy.size() || device > 31 || function > 7)
    return std::nullopt;
  std::array<char, 32> out{};
  std::snprintf(out.data(), out.size(), "%04x:%02x:%02x.%x", domain, bus, device, function);
  return std::string(out.data());
}

}  // namespace topoguard
