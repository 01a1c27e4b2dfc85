// SPDX-License-Identifier: Apache-2.0
//
// The driver functions that NCCL looks up by name. The cuMem* and cuMulticast* families are missing on purpose: NCCL
// then keeps its virtual memory management and NVLink SHARP off.
#include <cstring>

#include "devices.h"
#include "functions.h"

namespace fakecuda {
namespace {

// A context is never looked into; one address stands for all of them.
int only_context = 0;

int fake_cuCtxGetCurrent(void** context) {
  *context = &only_context;
  return kSuccess;
}

int fake_cuCtxGetDevice(int* device) {
  *device = current_device();
  return kSuccess;
}

int fake_cuDeviceGet(int* device, int ordinal) {
  if (ordinal < 0 || ordinal >= static_cast<int>(devices().visible.size())) return kInvalidDevice;
  *device = ordinal;
  return kSuccess;
}

// CUdevice_attribute and cudaDeviceAttr share their numbers.
int fake_cuDeviceGetAttribute(int* value, int attribute, int device) {
  static const auto runtime = reinterpret_cast<int (*)(int*, int, int)>(find_fake("cudaDeviceGetAttribute"));
  return runtime(value, attribute, device);
}

int fake_cuDeviceGetUuid(unsigned char* uuid, int device) {
  std::memset(uuid, 0, 16);
  uuid[15] = static_cast<unsigned char>(devices().visible.at(static_cast<std::size_t>(device)) + 1);
  return kSuccess;
}

int fake_cuGetErrorString(int error, const char** text) {
  *text = error == kSuccess ? "no error" : "fakecuda error";
  return kSuccess;
}

int fake_cuGetErrorName(int error, const char** text) {
  *text = error == kSuccess ? "CUDA_SUCCESS" : "CUDA_ERROR_FAKE";
  return kSuccess;
}

int fake_cuLaunchKernelEx(const void*, void*, void**, void**) { return kSuccess; }

}  // namespace

const std::vector<Fake>& driver_fakes() {
  static const auto* const fakes = new std::vector<Fake>{
      FAKECUDA_ENTRY(cuCtxGetCurrent),      FAKECUDA_ENTRY(cuCtxGetDevice),   FAKECUDA_ENTRY(cuDeviceGet),
      FAKECUDA_ENTRY(cuDeviceGetAttribute), FAKECUDA_ENTRY(cuDeviceGetUuid),  FAKECUDA_ENTRY(cuGetErrorString),
      FAKECUDA_ENTRY(cuGetErrorName),       FAKECUDA_ENTRY(cuLaunchKernelEx),
  };
  return *fakes;
}

}  // namespace fakecuda
