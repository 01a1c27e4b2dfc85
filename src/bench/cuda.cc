// SPDX-License-Identifier: Apache-2.0
#include "bench/cuda.h"

#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace topoguard::bench {

Cuda& Cuda::of_device(int device) {
  static Cuda cuda(device);
  if (cuda.device_ != device) throw std::runtime_error("one process drives memory of one GPU");
  return cuda;
}

template <typename Function>
void Cuda::find(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(dlsym(library_, name));
  if (function == nullptr) throw std::runtime_error(std::string("libcuda.so.1 has no ") + name);
}

void Cuda::check(const char* call, int result) const {
  if (result == 0) return;
  const char* text = nullptr;
  if (error_string_ != nullptr) error_string_(result, &text);
  throw std::runtime_error(std::string(call) + ": " + (text != nullptr ? text : "error " + std::to_string(result)));
}

Cuda::Cuda(int device) : library_(dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL)), device_(device) {
  if (library_ == nullptr)
    throw std::runtime_error("memory of a GPU needs the NVIDIA driver, which is not here (no libcuda.so.1)");
  int (*init)(unsigned) = nullptr;
  int (*get_device)(int*, int) = nullptr;
  int (*retain)(void**, int) = nullptr;
  int (*set_current)(void*) = nullptr;
  find(error_string_, "cuGetErrorString");
  find(init, "cuInit");
  find(get_device, "cuDeviceGet");
  find(retain, "cuDevicePrimaryCtxRetain");
  find(set_current, "cuCtxSetCurrent");
  find(synchronize_, "cuCtxSynchronize");
  find(mem_alloc_, "cuMemAlloc_v2");
  find(mem_free_, "cuMemFree_v2");
  find(memset_, "cuMemsetD8_v2");
  find(copy_in_, "cuMemcpyHtoD_v2");
  find(copy_out_, "cuMemcpyDtoH_v2");
  int handle = 0;
  void* context = nullptr;
  check("the CUDA driver does not start", init(0));
  check("cuDeviceGet", get_device(&handle, device));
  check("cuDevicePrimaryCtxRetain", retain(&context, handle));
  check("cuCtxSetCurrent", set_current(context));
}

Cuda::Pointer Cuda::allocate(std::size_t size) {
  Pointer pointer = 0;
  check("cuMemAlloc", mem_alloc_(&pointer, size));
  check("cuMemsetD8", memset_(pointer, 0, size));
  check("cuCtxSynchronize", synchronize_());
  return pointer;
}

void Cuda::release(Pointer pointer) noexcept { mem_free_(pointer); }

void Cuda::to_device(Pointer to, const void* from, std::size_t size) {
  check("cuMemcpyHtoD", copy_in_(to, from, size));
  check("cuCtxSynchronize", synchronize_());
}

void Cuda::to_host(void* to, Pointer from, std::size_t size) { check("cuMemcpyDtoH", copy_out_(to, from, size)); }

}  // namespace topoguard::bench
