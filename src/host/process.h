// SPDX-License-Identifier: Apache-2.0
// The calling process: allowed CPUs (of the calling thread) and memory nodes, limits, /dev/shm; and what identifies the
// boot and network namespace that it lives in. Facts: sched_setaffinity(2), proc(5), getrlimit(2).
#pragma once

#include <optional>
#include <string>

#include "host/sources.h"
#include "topoguard/snapshot.h"

namespace topoguard::host {

/// memlock_bytes is what may be pinned for RDMA: the limit, or -1 where CAP_IPC_LOCK lifts it (ib_umem_get() in
/// drivers/infiniband/core/umem.c).
/// Fills out.process but for gpu, and out.shm_bytes. From a recorded proc: of the process recorded as self.
void read_process(const Sources& sources, HostSnapshot& out);

/// "<boot id>:<network namespace inode>": two processes with equal text run on one boot of one kernel in one network
/// namespace. nullopt where /proc does not tell.
std::optional<std::string> boot_and_network_namespace(const Sources& sources);

}  // namespace topoguard::host
