// SPDX-License-Identifier: Apache-2.0
// Whether the NVIDIA driver can lend GPU memory to an HCA, from files alone.
//  peermem: /sys/module/nvidia_peermem, or nv_peer_mem under /sys/module or /sys/kernel/mm/memory_peers: the places
//  that NCCL
//           looks at (src/transport/net_ib.cc, ncclIbGdrModuleSupport, 2.18 to 2.30).
//  dmabuf:  the open kernel modules, release 515 or later, on Linux 5.12 or later (NVIDIA GPUDirect RDMA guide, "Using
//  DMA-BUF";
//           ibv_reg_dmabuf_mr came with Linux 5.12). /proc/driver/nvidia/version names flavour and release.
#pragma once

#include <string>

#include "host/sources.h"
#include "topoguard/snapshot.h"

namespace topoguard::host {

/// Fills out.gpu_driver. Both stay unknown without a driver. Uses out.system.kernel.
void read_gpu_driver(const Sources& sources, HostSnapshot& out);

/// "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build ..." and "5.15.0-105-generic".
/// nullopt where either cannot be understood.
std::optional<bool> has_dmabuf(const std::string& driver_version, const std::string& kernel);

}  // namespace topoguard::host
