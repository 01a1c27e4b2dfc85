// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstring>

#include "devices.h"
#include "functions.h"

namespace fakecuda {
namespace {

thread_local int device_of_thread = 0;

bool is_device(int device) { return device >= 0 && device < static_cast<int>(devices().visible.size()); }

int fake_cudaGetDevice(int* device) {
  if (devices().visible.empty()) return kNoDevice;
  *device = device_of_thread;
  return kSuccess;
}

int fake_cudaSetDevice(int device) {
  if (!is_device(device)) return kInvalidDevice;
  device_of_thread = device;
  return kSuccess;
}

int fake_cudaGetDeviceCount(int* count) {
  *count = static_cast<int>(devices().visible.size());
  return *count == 0 ? kNoDevice : kSuccess;
}

int fake_cudaDriverGetVersion(int* version) {
  *version = devices().driver_version;
  return kSuccess;
}

int fake_cudaRuntimeGetVersion(int* version) { return fake_cudaDriverGetVersion(version); }

// cudaDeviceAttr numbers; every other attribute is 0, which reads as "feature missing".
int fake_cudaDeviceGetAttribute(int* value, int attribute, int device) {
  if (!is_device(device)) return kInvalidDevice;
  switch (attribute) {
    case 10:
      *value = 32;
      break;  // WarpSize
    case 16:
      *value = 132;
      break;  // MultiProcessorCount
    case 75:
      *value = devices().compute_major;
      break;  // ComputeCapabilityMajor
    case 76:
      *value = devices().compute_minor;
      break;  // ComputeCapabilityMinor
    case 97:
      *value = 232448;
      break;  // MaxSharedMemoryPerBlockOptin
    case 116:
      *value = devices().gpu_direct_rdma ? 1 : 0;
      break;  // GPUDirectRDMASupported
    default:
      *value = 0;
  }
  return kSuccess;
}

int fake_cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (!is_device(device)) return kInvalidDevice;
  const std::string& id =
      devices().bus_ids[static_cast<std::size_t>(devices().visible[static_cast<std::size_t>(device)])];
  if (length <= static_cast<int>(id.size())) return kInvalidValue;
  std::memcpy(text, id.c_str(), id.size() + 1);
  return kSuccess;
}

int fake_cudaDeviceGetByPCIBusId(int* device, const char* text) {
  int index = find_bus_id(text);
  for (int ordinal = 0; is_device(ordinal); ++ordinal) {
    if (devices().visible[static_cast<std::size_t>(ordinal)] == index) {
      *device = ordinal;
      return kSuccess;
    }
  }
  return kInvalidDevice;
}

// cudaDeviceProp begins alike in CUDA 11, 12 and 13: name[256], uuid, luid, luidDeviceNodeMask, totalGlobalMem at 288.
// Its size differs: 712 bytes in CUDA 11, which is also the unsuffixed function's in CUDA 12; 1032 behind _v2 in CUDA
// 12; 1008 in CUDA 13, unsuffixed again. The smallest that a function can mean is cleared, so nobody's stack is written
// over.
struct PropertiesHead {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luid_device_node_mask;
  std::size_t total_global_memory;
};
static_assert(offsetof(PropertiesHead, total_global_memory) == 288);

int fill_properties(void* properties, std::size_t size, int device) {
  if (!is_device(device)) return kInvalidDevice;
  PropertiesHead head{};
  std::snprintf(head.name, sizeof head.name, "fakecuda GPU");
  head.total_global_memory = devices().memory_bytes;
  std::memset(properties, 0, size);
  std::memcpy(properties, &head, sizeof head);
  return kSuccess;
}

int fake_cudaGetDeviceProperties(void* properties, int device) { return fill_properties(properties, 712, device); }
int fake_cudaGetDeviceProperties_v2(void* properties, int device) { return fill_properties(properties, 1008, device); }

int fake_cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (!is_device(device) || !is_device(peer)) return kInvalidDevice;
  *can = device != peer;
  return kSuccess;
}

int fake_cudaDeviceEnablePeerAccess(int peer, unsigned) { return is_device(peer) ? kSuccess : kInvalidDevice; }
int fake_cudaDeviceSynchronize() { return kSuccess; }
int fake_cudaGetLastError() { return kSuccess; }
int fake_cudaPeekAtLastError() { return kSuccess; }
const char* fake_cudaGetErrorString(int error) { return error == kSuccess ? "no error" : "fakecuda error"; }
const char* fake_cudaGetErrorName(int error) { return error == kSuccess ? "cudaSuccess" : "cudaErrorFake"; }

// struct cudaFuncAttributes: 144 bytes in CUDA 13; its documented part ends before byte 80 since CUDA 12.
int fake_cudaFuncGetAttributes(void* attributes, const void*) {
  std::memset(attributes, 0, 80);
  return kSuccess;
}

int fake_cudaFuncSetAttribute(const void*, int, int) { return kSuccess; }
int fake_cudaLaunchKernelExC(const void*, const void*, void**) { return kSuccess; }

int fake_cudaGetFuncBySymbol(void** function, const void* symbol) {
  *function = const_cast<void*>(symbol);
  return kSuccess;
}

// enum cudaDriverEntryPointQueryResult: 0 found, 1 symbol not found. A missing symbol is no error of the call.
int entry_point(const char* symbol, void** function, int* status) {
  *function = nullptr;
  for (const Fake& fake : driver_fakes()) {
    if (std::strcmp(fake.name, symbol) == 0) *function = fake.function;
  }
  if (status != nullptr) *status = *function == nullptr ? 1 : 0;
  return kSuccess;
}

int fake_cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long, int* status) {
  return entry_point(symbol, function, status);
}

int fake_cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned, unsigned long long,
                                          int* status) {
  return entry_point(symbol, function, status);
}

}  // namespace

int current_device() { return device_of_thread; }

const std::vector<Fake>& device_fakes() {
  static const auto* const fakes = new std::vector<Fake>{
      FAKECUDA_ENTRY(cudaGetDevice),
      FAKECUDA_ENTRY(cudaSetDevice),
      FAKECUDA_ENTRY(cudaGetDeviceCount),
      FAKECUDA_ENTRY(cudaDriverGetVersion),
      FAKECUDA_ENTRY(cudaRuntimeGetVersion),
      FAKECUDA_ENTRY(cudaDeviceGetAttribute),
      FAKECUDA_ENTRY(cudaDeviceGetPCIBusId),
      FAKECUDA_ENTRY(cudaDeviceGetByPCIBusId),
      FAKECUDA_ENTRY(cudaGetDeviceProperties),
      FAKECUDA_ENTRY(cudaGetDeviceProperties_v2),
      FAKECUDA_ENTRY(cudaDeviceCanAccessPeer),
      FAKECUDA_ENTRY(cudaDeviceEnablePeerAccess),
      FAKECUDA_ENTRY(cudaDeviceSynchronize),
      FAKECUDA_ENTRY(cudaGetLastError),
      FAKECUDA_ENTRY(cudaPeekAtLastError),
      FAKECUDA_ENTRY(cudaGetErrorString),
      FAKECUDA_ENTRY(cudaGetErrorName),
      FAKECUDA_ENTRY(cudaFuncGetAttributes),
      FAKECUDA_ENTRY(cudaFuncSetAttribute),
      FAKECUDA_ENTRY(cudaLaunchKernelExC),
      FAKECUDA_ENTRY(cudaGetFuncBySymbol),
      FAKECUDA_ENTRY(cudaGetDriverEntryPoint),
      FAKECUDA_ENTRY(cudaGetDriverEntryPointByVersion),
  };
  return *fakes;
}

}  // namespace fakecuda
