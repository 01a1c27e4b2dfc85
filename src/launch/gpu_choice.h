// SPDX-License-Identifier: Apache-2.0
// Which GPU a process that is about to start will use, from what launchers and CUDA_VISIBLE_DEVICES say. Pure.
// Source: CUDA C++ Programming Guide, "CUDA Environment Variables": a list of numbers, of UUIDs (or prefixes that fit
// one device) and of MIG UUIDs; the list ends at the first entry that names nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "affinity/ranks.h"
#include "topoguard/snapshot.h"

namespace topoguard {

struct GpuUuid {
  std::string uuid;  ///< "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", or of a MIG instance "MIG-..."
  std::string pci;   ///< "0000:0f:00.0"
};

struct ChosenGpu {
  std::optional<std::string> pci;  ///< nullopt: not known, and why says why
  std::string why;                 ///< "LOCAL_RANK 3 of CUDA_VISIBLE_DEVICES"
};

/// `wanted`: what --gpu says: empty or "auto", a number as CUDA counts it within CUDA_VISIBLE_DEVICES, a UUID, or a PCI
/// id. The snapshot's GPU indices count as NVML counts, in PCI order.
ChosenGpu choose_gpu(const std::string& wanted, const EnvLookup& env, const HostSnapshot& host,
                     const std::vector<GpuUuid>& uuids);

/// True where choose_gpu() needs UUIDs: CUDA_VISIBLE_DEVICES or `wanted` holds one.
bool needs_uuids(const std::string& wanted, const EnvLookup& env);

}  // namespace topoguard
