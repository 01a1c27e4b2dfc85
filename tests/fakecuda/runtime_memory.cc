// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>

#include "functions.h"

namespace fakecuda {
namespace {

struct Allocation {
  std::size_t size = 0;
  int device = -1;  // -1: host memory
};

// Leaked: NCCL frees late, from other threads, while the process exits.
struct Allocations {
  std::mutex mutex;
  std::map<std::uintptr_t, Allocation> by_address;
};

Allocations& allocations() {
  static Allocations* const all = new Allocations;
  return *all;
}

int allocate(void** pointer, std::size_t size, int device) {
  *pointer = nullptr;
  if (size == 0) return kSuccess;
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return kOutOfMemory;
  Allocations& all = allocations();
  std::lock_guard<std::mutex> lock(all.mutex);
  all.by_address[reinterpret_cast<std::uintptr_t>(memory)] = {size, device};
  *pointer = memory;
  return kSuccess;
}

int release(void* pointer) {
  if (pointer == nullptr) return kSuccess;
  Allocations& all = allocations();
  std::size_t size = 0;
  {
    std::lock_guard<std::mutex> lock(all.mutex);
    auto found = all.by_address.find(reinterpret_cast<std::uintptr_t>(pointer));
    if (found == all.by_address.end()) return kInvalidValue;
    size = found->second.size;
    all.by_address.erase(found);
  }
  return munmap(pointer, size) == 0 ? kSuccess : kInvalidValue;
}

int fake_cudaMalloc(void** pointer, std::size_t size) { return allocate(pointer, size, current_device()); }
int fake_cudaFree(void* pointer) { return release(pointer); }
int fake_cudaMallocAsync(void** pointer, std::size_t size, void*) { return fake_cudaMalloc(pointer, size); }
int fake_cudaMallocFromPoolAsync(void** pointer, std::size_t size, void*, void*) {
  return fake_cudaMalloc(pointer, size);
}
int fake_cudaFreeAsync(void* pointer, void*) { return release(pointer); }
int fake_cudaHostAlloc(void** pointer, std::size_t size, unsigned) { return allocate(pointer, size, -1); }
int fake_cudaMallocHost(void** pointer, std::size_t size) { return allocate(pointer, size, -1); }
int fake_cudaFreeHost(void* pointer) { return release(pointer); }

int fake_cudaHostRegister(void*, std::size_t, unsigned) { return kSuccess; }
int fake_cudaHostUnregister(void*) { return kSuccess; }

int fake_cudaHostGetDevicePointer(void** device_pointer, void* host_pointer, unsigned) {
  *device_pointer = host_pointer;
  return kSuccess;
}

int fake_cudaMemcpy(void* to, const void* from, std::size_t size, int) {
  std::memmove(to, from, size);
  return kSuccess;
}

int fake_cudaMemcpyAsync(void* to, const void* from, std::size_t size, int kind, void*) {
  return fake_cudaMemcpy(to, from, size, kind);
}

int fake_cudaMemset(void* to, int value, std::size_t size) {
  std::memset(to, value, size);
  return kSuccess;
}

int fake_cudaMemsetAsync(void* to, int value, std::size_t size, void*) { return fake_cudaMemset(to, value, size); }

// struct cudaPointerAttributes: int type (0 unregistered, 1 host, 2 device), int device, two pointers, then reserved
// words.
struct PointerAttributes {
  int type;
  int device;
  void* device_pointer;
  void* host_pointer;
};

int fake_cudaPointerGetAttributes(void* attributes, const void* pointer) {
  PointerAttributes answer{0, -2, nullptr, const_cast<void*>(pointer)};
  Allocations& all = allocations();
  std::lock_guard<std::mutex> lock(all.mutex);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  auto next = all.by_address.upper_bound(address);
  if (next != all.by_address.begin()) {
    auto holder = std::prev(next);
    if (address < holder->first + holder->second.size) {
      bool on_device = holder->second.device >= 0;
      answer = {on_device ? 2 : 1, on_device ? holder->second.device : 0, const_cast<void*>(pointer),
                const_cast<void*>(pointer)};
    }
  }
  std::memcpy(attributes, &answer, sizeof answer);
  return kSuccess;
}

int fake_cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  *free_bytes = *total_bytes = std::size_t{1} << 36;
  return kSuccess;
}

// A pool is a handle and nothing else: what is allocated from it comes from allocate().
int fake_cudaMemPoolCreate(void** pool, const void*) {
  *pool = new char;
  return kSuccess;
}

int fake_cudaMemPoolDestroy(void* pool) {
  delete static_cast<char*>(pool);
  return kSuccess;
}

int fake_cudaMemPoolSetAttribute(void*, int, void*) { return kSuccess; }
int fake_cudaMemPoolTrimTo(void*, std::size_t) { return kSuccess; }

}  // namespace

const std::vector<Fake>& memory_fakes() {
  static const auto* const fakes = new std::vector<Fake>{
      FAKECUDA_ENTRY(cudaMalloc),
      FAKECUDA_ENTRY(cudaFree),
      FAKECUDA_ENTRY(cudaMallocAsync),
      FAKECUDA_ENTRY(cudaMallocFromPoolAsync),
      FAKECUDA_ENTRY(cudaFreeAsync),
      FAKECUDA_ENTRY(cudaHostAlloc),
      FAKECUDA_ENTRY(cudaMallocHost),
      FAKECUDA_ENTRY(cudaFreeHost),
      FAKECUDA_ENTRY(cudaHostRegister),
      FAKECUDA_ENTRY(cudaHostUnregister),
      FAKECUDA_ENTRY(cudaHostGetDevicePointer),
      FAKECUDA_ENTRY(cudaMemcpy),
      FAKECUDA_ENTRY(cudaMemcpyAsync),
      FAKECUDA_ENTRY(cudaMemset),
      FAKECUDA_ENTRY(cudaMemsetAsync),
      FAKECUDA_ENTRY(cudaPointerGetAttributes),
      FAKECUDA_ENTRY(cudaMemGetInfo),
      FAKECUDA_ENTRY(cudaMemPoolCreate),
      FAKECUDA_ENTRY(cudaMemPoolDestroy),
      FAKECUDA_ENTRY(cudaMemPoolSetAttribute),
      FAKECUDA_ENTRY(cudaMemPoolTrimTo),
  };
  return *fakes;
}

}  // namespace fakecuda
