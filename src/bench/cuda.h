// SPDX-License-Identifier: Apache-2.0
// The few calls of the CUDA driver (libcuda.so.1, CUDA driver API reference) that messages in GPU memory need. Opened
// at run time, in the command only: topoguard never touches CUDA in a job. Errors are std::runtime_error.
#pragma once

#include <cstddef>
#include <cstdint>

namespace topoguard::bench {

class Cuda {
 public:
  using Pointer = std::uintptr_t;  // CUdeviceptr

  /// The device's primary context, current in this thread from now on. One device per process.
  static Cuda& of_device(int device);

  Pointer allocate(std::size_t size);  ///< zeroed
  void release(Pointer pointer) noexcept;
  void to_device(Pointer to, const void* from, std::size_t size);
  void to_host(void* to, Pointer from, std::size_t size);

 private:
  explicit Cuda(int device);
  template <typename Function>
  void find(Function*& function, const char* name);
  void check(const char* call, int result) const;

  void* library_ = nullptr;
  int device_ = 0;
  int (*error_string_)(int, const char**) = nullptr;
  int (*mem_alloc_)(Pointer*, std::size_t) = nullptr;
  int (*mem_free_)(Pointer) = nullptr;
  int (*memset_)(Pointer, unsigned char, std::size_t) = nullptr;
  int (*copy_in_)(Pointer, const void*, std::size_t) = nullptr;
  int (*copy_out_)(void*, Pointer, std::size_t) = nullptr;
  int (*synchronize_)() = nullptr;
};

}  // namespace topoguard::bench
