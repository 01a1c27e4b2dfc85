// SPDX-License-Identifier: Apache-2.0
// Which rank of how many this process is on its host, as launchers tell by environment variables.
// Sources: torchrun (LOCAL_RANK, LOCAL_WORLD_SIZE; elastic_launch documentation), srun (SLURM_LOCALID,
// SLURM_STEP_TASKS_PER_NODE), Open MPI (OMPI_COMM_WORLD_LOCAL_*), Intel MPI and MPICH's Hydra (MPI_LOCAL*),
// MVAPICH2 (MV2_COMM_WORLD_LOCAL_*), PMIx-less Cray PALS (PALS_LOCAL_*). Pure functions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace topoguard {

/// The value of an environment variable, nullopt where unset. May be asked from any thread.
using EnvLookup = std::function<std::optional<std::string>(std::string_view name)>;

struct LocalRank {
  int rank = 0;          ///< 0 or more
  std::string variable;  ///< the variable that said so
};

/// nullopt where no launcher said it, or said something that is no number.
std::optional<LocalRank> local_rank(const EnvLookup& env);

/// Ranks on this host. "Several" is all that matters to callers, so a local rank without a size counts as 2 or more.
/// nullopt where nothing tells.
std::optional<int> local_ranks(const EnvLookup& env);

}  // namespace topoguard
