// SPDX-License-Identifier: Apache-2.0
#include "launch/gpu_uuids.h"

#include <algorithm>
#include <cstdio>

#include "host/library.h"

namespace topoguard {
namespace {

// nvmlPciInfo_t: legacy id, numbers, long id. Room behind it in case a release writes more.
struct PciInfo {
  char legacy_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char id[32];
  char room[188];
};
static_assert(sizeof(PciInfo) == 256);

using GetUuid = int(void*, char*, unsigned);

void add(std::vector<GpuUuid>& list, GetUuid* get, void* device, const char* pci) {
  char text[97] = {};
  if (get(device, text, sizeof text - 1) == 0 && text[0] != '\0') list.push_back({text, pci});
}

}  // namespace

std::vector<GpuUuid> gpu_uuids(const Sources& sources) {
  std::vector<GpuUuid> list;
  const host::Library nvml(sources, "libnvidia-ml.so.1");
  const auto init = nvml.find<int()>("nvmlInit_v2");
  const auto shutdown = nvml.find<int()>("nvmlShutdown");
  const auto count = nvml.find<int(unsigned*)>("nvmlDeviceGetCount_v2");
  const auto handle = nvml.find<int(unsigned, void**)>("nvmlDeviceGetHandleByIndex_v2");
  const auto pci = nvml.find<int(void*, PciInfo*)>("nvmlDeviceGetPciInfo_v3");
  const auto uuid = nvml.find<GetUuid>("nvmlDeviceGetUUID");
  const auto mig_count = nvml.find<int(void*, unsigned*)>("nvmlDeviceGetMaxMigDeviceCount");
  const auto mig_handle = nvml.find<int(void*, unsigned, void**)>("nvmlDeviceGetMigDeviceHandleByIndex");
  if (!init || !shutdown || !count || !handle || !pci || !uuid || init() != 0) return list;
  unsigned total = 0;
  if (count(&total) != 0) total = 0;
  for (unsigned i = 0; i < std::min(total, 1024u); ++i) {
    void* device = nullptr;
    PciInfo info{};
    if (handle(i, &device) != 0 || pci(device, &info) != 0) continue;
    char id[32];
    std::snprintf(id, sizeof id, "%04x:%02x:%02x.0", info.domain, info.bus, info.device);
    add(list, uuid, device, id);
    unsigned instances = 0;
    if (!mig_count || !mig_handle || mig_count(device, &instances) != 0) continue;
    for (unsigned k = 0; k < std::min(instances, 64u); ++k) {
      void* instance = nullptr;
      if (mig_handle(device, k, &instance) == 0) add(list, uuid, instance, id);
    }
  }
  shutdown();
  return list;
}

}  // namespace topoguard
