// SPDX-License-Identifier: Apache-2.0
// Host name, kernel, container kind, virtualization, modules, IOMMU.
#pragma once

#include <string>
#include <vector>

#include "host/sources.h"
#include "topoguard/snapshot.h"

namespace topoguard::host {

/// Fills out.system.
void read_system(const Sources& sources, const std::vector<std::string>& entries, HostSnapshot& out);

/// none, docker, podman, kubernetes, slurm-pyxis or other, from what each leaves behind: KUBERNETES_SERVICE_HOST
/// (kubelet), /.dockerenv (dockerd), /run/.containerenv (podman), enroot's mount sources (pyxis), "container=" in the
/// environment (systemd's container interface), names in /proc/self/cgroup (cgroup v1). nullopt where /proc is missing
/// and nothing else tells.
std::optional<std::string> container_kind(const Sources& sources, const std::vector<std::string>& entries);

/// none, or who virtualizes: from the DMI vendor and product (/sys/class/dmi/id), /sys/hypervisor/type, and the
/// processor's hypervisor flag in /proc/cpuinfo. nullopt where none of them can be read.
std::optional<std::string> virtualization(const Sources& sources);

/// off, passthrough or on: /sys/class/iommu, /sys/kernel/iommu_groups/N/type (Linux 5.11), iommu=pt in /proc/cmdline.
std::optional<std::string> iommu(const Sources& sources);

}  // namespace topoguard::host
