// SPDX-License-Identifier: Apache-2.0
//
// The fakes: our implementations of documented functions of the CUDA runtime and driver APIs (CUDA 12 and 13 manuals).
// Device memory is host memory, copies happen at once, streams and events are always complete, kernels do nothing.
//
// Every fake is called fake_NAME, so that no patched function can jump to itself through symbol interposition.
#pragma once

#include <cstddef>
#include <vector>

namespace fakecuda {

struct Fake {
  const char* name;  // as NVIDIA documents it
  void* function;
};

#define FAKECUDA_ENTRY(name) \
  ::fakecuda::Fake { #name, reinterpret_cast < void*>(&fake_##name) }

const std::vector<Fake>& device_fakes();  // devices, versions, attributes, kernels
const std::vector<Fake>& memory_fakes();  // allocation, copies, pools
const std::vector<Fake>& stream_fakes();  // streams, events, capture
const std::vector<Fake>& driver_fakes();  // cu*: reached by cudaGetDriverEntryPoint

// The runtime's fake of that name, or nullptr.
void* find_fake(const char* name);

// The device that is current on this thread: a runtime ordinal.
int current_device();

// cudaError_t / CUresult values used here.
constexpr int kSuccess = 0;
constexpr int kInvalidValue = 1;
constexpr int kOutOfMemory = 2;
constexpr int kNoDevice = 100;
constexpr int kInvalidDevice = 101;
constexpr int kNotSupported = 801;

}  // namespace fakecuda
