// SPDX-License-Identifier: Apache-2.0
// libcuda.so.1 of a job whose CUDA context is current: answers which device that is, as fakecuda's thread has set it,
// and the device's bus id. Everything else that a process might initialise CUDA with is in tests/fakecuda/forbidden.
// Facts: CUDA Driver API, Context Management and Device Management.
#include "install.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int cuCtxGetCurrent(void** context) {
  static int only_context = 0;
  *context = &only_context;
  return 0;
}

EXPORTED int cuCtxGetDevice(int* device) {
  static const auto get_device = reinterpret_cast<int (*)(int*)>(fakecuda_function("cudaGetDevice"));
  return get_device(device);
}

EXPORTED int cuDeviceGetPCIBusId(char* text, int length, int device) {
  static const auto get_bus_id = reinterpret_cast<int (*)(char*, int, int)>(fakecuda_function("cudaDeviceGetPCIBusId"));
  return get_bus_id(text, length, device);
}
