// SPDX-License-Identifier: Apache-2.0
#include "bench/memory.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

#include "bench/cuda.h"
#include "nccl/common.h"

namespace topoguard::bench {
namespace {

class HostMemory : public Memory {
 public:
  explicit HostMemory(std::size_t size) : data_(static_cast<char*>(std::aligned_alloc(kPage, rounded(size)))) {
    if (data_ == nullptr) throw std::bad_alloc();
    std::memset(data_, 0, rounded(size));  // no page fault is measured
  }
  ~HostMemory() override { std::free(data_); }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  char* data() override { return data_; }
  int type() const override { return TGNCCL_PTR_HOST; }
  void put(std::size_t at, const char* from, std::size_t size) override { std::memcpy(data_ + at, from, size); }
  void get(std::size_t at, char* to, std::size_t size) override { std::memcpy(to, data_ + at, size); }

 private:
  static constexpr std::size_t kPage = 4096;
  static std::size_t rounded(std::size_t size) { return (size + kPage - 1) / kPage * kPage + kPage; }
  char* data_;
};

class CudaMemory : public Memory {
 public:
  CudaMemory(int device, std::size_t size) : cuda_(Cuda::of_device(device)), data_(cuda_.allocate(size)) {}
  ~CudaMemory() override { cuda_.release(data_); }
  CudaMemory(const CudaMemory&) = delete;
  CudaMemory& operator=(const CudaMemory&) = delete;

  char* data() override { return reinterpret_cast<char*>(data_); }
  int type() const override { return TGNCCL_PTR_CUDA; }
  void put(std::size_t at, const char* from, std::size_t size) override { cuda_.to_device(data_ + at, from, size); }
  void get(std::size_t at, char* to, std::size_t size) override { cuda_.to_host(to, data_ + at, size); }

 private:
  Cuda& cuda_;
  Cuda::Pointer data_;
};

}  // namespace

std::unique_ptr<Memory> allocate(const std::string& where, std::size_t size) {
  if (where == "host") return std::make_unique<HostMemory>(size);
  if (where == "cuda") return std::make_unique<CudaMemory>(0, size);
  if (where.rfind("cuda:", 0) == 0 && where.find_first_not_of("0123456789", 5) == std::string::npos &&
      where.size() > 5 && where.size() < 9)
    return std::make_unique<CudaMemory>(std::atoi(where.c_str() + 5), size);
  throw std::runtime_error("memory is host, cuda or cuda:N, not " + where);
}

}  // namespace topoguard::bench
