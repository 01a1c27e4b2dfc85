// SPDX-License-Identifier: Apache-2.0
// GPU names and indices from NVML, for the command-line tool: it initialises the library, which a job's process must
// not. Facts: NVML API reference, "Device Queries" (nvmlInit_v2, nvmlDeviceGetPciInfo_v3, nvmlDeviceGetName).
#pragma once

#include "host/sources.h"
#include "topoguard/snapshot.h"

namespace topoguard::host {

/// Sets name, and index to NVML's, on those of out.gpus that NVML knows; the others keep counting after them.
/// Without the library or a driver nothing changes; a note says so where there are GPUs. Not thread-safe with other
/// NVML use.
void ask_nvml(const Sources& sources, HostSnapshot& out);

}  // namespace topoguard::host
