// SPDX-License-Identifier: Apache-2.0
//
// libnvidia-ml.so.1 for the rig: as much of the NVML API as NCCL asks for, over the devices of devices.h. No NVLink, no
// fabric, no confidential computing. FAKECUDA_NVML_FORBID=TEXT ends the process when the name of a caller's file
// (without its folder) contains TEXT: NCCL may use NVML, topoguard may not.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../devices.h"
#include "../forbidden/caller.h"

namespace {

// nvmlReturn_t
constexpr int kSuccess = 0;
constexpr int kInvalidArgument = 2;
constexpr int kNotSupported = 3;
constexpr int kNotFound = 6;

void check_caller(const char* function, void* address) {
  static const char* const forbidden = std::getenv("FAKECUDA_NVML_FORBID");
  if (forbidden == nullptr) return;
  const char* path = fakecuda::object_of(address);
  const char* slash = std::strrchr(path, '/');
  if (std::strstr(slash == nullptr ? path : slash, forbidden) != nullptr) fakecuda::forbid(function, address);
}

// A handle is the device's index plus one: never null.
void* to_handle(int index) { return reinterpret_cast<void*>(static_cast<std::intptr_t>(index) + 1); }
int to_index(void* handle) { return static_cast<int>(reinterpret_cast<std::intptr_t>(handle) - 1); }
int count() { return static_cast<int>(fakecuda::devices().bus_ids.size()); }

}  // namespace

#define NVML(name) extern "C" __attribute__((visibility("default"))) int name
#define CHECK_CALLER() check_caller(__func__, __builtin_return_address(0))
#define NOT_SUPPORTED(name)  \
  NVML(name)(...);           \
  extern "C" int name(...) { \
    CHECK_CALLER();          \
    return kNotSupported;    \
  }

NVML(nvmlInit_v2)() {
  CHECK_CALLER();
  return kSuccess;
}

NVML(nvmlInit)() {
  CHECK_CALLER();
  return kSuccess;
}

NVML(nvmlShutdown)() {
  CHECK_CALLER();
  return kSuccess;
}

NVML(nvmlDeviceGetCount_v2)(unsigned* result) {
  CHECK_CALLER();
  *result = static_cast<unsigned>(count());
  return kSuccess;
}

NVML(nvmlDeviceGetHandleByIndex)(unsigned index, void** handle) {
  CHECK_CALLER();
  if (static_cast<int>(index) >= count()) return kInvalidArgument;
  *handle = to_handle(static_cast<int>(index));
  return kSuccess;
}

NVML(nvmlDeviceGetHandleByPciBusId)(const char* bus_id, void** handle) {
  CHECK_CALLER();
  int index = fakecuda::find_bus_id(bus_id);
  if (index < 0) return kNotFound;
  *handle = to_handle(index);
  return kSuccess;
}

NVML(nvmlDeviceGetIndex)(void* handle, unsigned* index) {
  CHECK_CALLER();
  *index = static_cast<unsigned>(to_index(handle));
  return kSuccess;
}

NVML(nvmlDeviceGetCudaComputeCapability)(void*, int* major, int* minor) {
  CHECK_CALLER();
  *major = fakecuda::devices().compute_major;
  *minor = fakecuda::devices().compute_minor;
  return kSuccess;
}

// Status 0 is NVML_P2P_STATUS_OK.
NVML(nvmlDeviceGetP2PStatus)(void*, void*, int, int* status) {
  CHECK_CALLER();
  *status = 0;
  return kSuccess;
}

// nvmlPciInfo_t grew at its end over the years: busIdLegacy[16], domain, bus, device, pciDeviceId, pciSubSystemId are
// common to all.
NVML(nvmlDeviceGetPciInfo_v3)(void* handle, void* info) {
  CHECK_CALLER();
  struct {
    char bus_id_legacy[16];
    unsigned domain, bus, device, device_id, subsystem_id;
  } head{};
  static_assert(sizeof head == 36);
  const std::string& id = fakecuda::devices().bus_ids.at(static_cast<std::size_t>(to_index(handle)));
  unsigned function = 0;
  std::sscanf(id.c_str(), "%x:%x:%x.%x", &head.domain, &head.bus, &head.device, &function);
  std::snprintf(head.bus_id_legacy, sizeof head.bus_id_legacy, "%.15s", id.c_str());
  std::memcpy(info, &head, sizeof head);
  return kSuccess;
}

NVML(nvmlDeviceGetCurrPcieLinkGeneration)(void*, unsigned* generation) {
  CHECK_CALLER();
  *generation = 5;
  return kSuccess;
}

NVML(nvmlDeviceGetCurrPcieLinkWidth)(void*, unsigned* width) {
  CHECK_CALLER();
  *width = 16;
  return kSuccess;
}

extern "C" __attribute__((visibility("default"))) const char* nvmlErrorString(int result) {
  return result == kSuccess ? "Success" : result == kNotSupported ? "Not Supported" : "fake NVML error";
}

NOT_SUPPORTED(nvmlDeviceGetNvLinkState)
NOT_SUPPORTED(nvmlDeviceGetNvLinkCapability)
NOT_SUPPORTED(nvmlDeviceGetNvLinkRemotePciInfo)
NOT_SUPPORTED(nvmlDeviceGetNvLinkRemotePciInfo_v2)
NOT_SUPPORTED(nvmlDeviceGetNvLinkRemoteDeviceType)
NOT_SUPPORTED(nvmlDeviceGetFieldValues)
NOT_SUPPORTED(nvmlDeviceGetGpuFabricInfoV)
NOT_SUPPORTED(nvmlDeviceGetPlatformInfo)
NOT_SUPPORTED(nvmlSystemGetConfComputeState)
NOT_SUPPORTED(nvmlSystemGetConfComputeSettings)
