// SPDX-License-Identifier: Apache-2.0
// Where messages lie: page-aligned host memory, or CUDA memory where there is a GPU. Errors are std::runtime_error.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace topoguard::bench {

class Memory {
 public:
  virtual ~Memory() = default;
  virtual char* data() = 0;      ///< for the transport; host code may not read CUDA memory
  virtual int type() const = 0;  ///< TGNCCL_PTR_HOST or TGNCCL_PTR_CUDA
  virtual void put(std::size_t at, const char* from, std::size_t size) = 0;
  virtual void get(std::size_t at, char* to, std::size_t size) = 0;
};

/// "host", "cuda" (device 0) or "cuda:N". CUDA's driver library is opened by this call, and only where it is asked for.
std::unique_ptr<Memory> allocate(const std::string& where, std::size_t size);

}  // namespace topoguard::bench
