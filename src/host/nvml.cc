// SPDX-License-Identifier: Apache-2.0
#include "host/nvml.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <set>

#include "host/library.h"
#include "host/notes.h"

namespace topoguard::host {
namespace {

// nvmlPciInfo_t: legacy id, numbers, long id. Room behind it in case a release writes more.
struct PciInfo {
  char legacy_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char id[32];
  char room[188];
};
static_assert(sizeof(PciInfo) == 256);

std::string sysfs_id(const PciInfo& info) {
  char id[32];
  std::snprintf(id, sizeof id, "%04x:%02x:%02x.0", info.domain, info.bus, info.device);
  return id;
}

}  // namespace

void ask_nvml(const Sources& sources, HostSnapshot& out) {
  if (!out.gpus || out.gpus->empty()) return;
  const Library nvml(sources, "libnvidia-ml.so.1");
  const auto init = nvml.find<int()>("nvmlInit_v2");
  const auto shutdown = nvml.find<int()>("nvmlShutdown");
  const auto count = nvml.find<int(unsigned*)>("nvmlDeviceGetCount_v2");
  const auto handle = nvml.find<int(unsigned, void**)>("nvmlDeviceGetHandleByIndex_v2");
  const auto pci = nvml.find<int(void*, PciInfo*)>("nvmlDeviceGetPciInfo_v3");
  const auto name = nvml.find<int(void*, char*, unsigned)>("nvmlDeviceGetName");
  if (!init || !shutdown || !count || !handle || !pci || !name) {
    note(out, "nvml", "libnvidia-ml.so.1 is not there; GPUs have no names, and are counted in PCI order");
    return;
  }
  if (const int error = init(); error != 0) {
    note(out, "nvml",
         "the NVIDIA driver does not answer (nvmlInit gave " + std::to_string(error) +
             "); GPUs have no names, and are counted in PCI order");
    return;
  }
  unsigned total = 0;
  std::set<std::string> seen;
  int next = 0;
  if (count(&total) == 0) {
    for (unsigned i = 0; i < std::min(total, 1024u); ++i) {
      void* device = nullptr;
      PciInfo info{};
      char text[97] = {};
      if (handle(i, &device) != 0 || pci(device, &info) != 0) continue;
      for (Gpu& gpu : *out.gpus) {
        if (gpu.pci != sysfs_id(info)) continue;
        gpu.index = static_cast<int>(i);
        seen.insert(*gpu.pci);
        if (name(device, text, sizeof text - 1) == 0 && text[0]) gpu.name = text;
      }
      next = static_cast<int>(i) + 1;
    }
  }
  shutdown();
  // Those that NVML does not show (another container's) come after the ones it does.
  for (Gpu& gpu : *out.gpus)
    if (!seen.empty() && !seen.count(*gpu.pci)) gpu.index = next++;
  std::sort(out.gpus->begin(), out.gpus->end(), [](const Gpu& a, const Gpu& b) { return a.index < b.index; });
}

}  // namespace topoguard::host
