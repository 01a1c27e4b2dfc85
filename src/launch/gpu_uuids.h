// SPDX-License-Identifier: Apache-2.0
// UUIDs of this host's GPUs and MIG instances from NVML, for the command-line tool only: it initialises the library,
// which a job's process must not.
// Facts: NVML API reference, "Device Queries" (nvmlDeviceGetUUID, nvmlDeviceGetPciInfo_v3) and "Multi Instance GPU
// Management" (nvmlDeviceGetMaxMigDeviceCount, nvmlDeviceGetMigDeviceHandleByIndex).
#pragma once

#include <vector>

#include "host/sources.h"
#include "launch/gpu_choice.h"

namespace topoguard {

/// Empty where there is no NVML or no driver. Not thread-safe with other NVML use.
std::vector<GpuUuid> gpu_uuids(const Sources& sources);

}  // namespace topoguard
