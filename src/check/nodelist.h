// SPDX-License-Identifier: Apache-2.0
// Lists of host names as Slurm writes them: "login1,gpu[001-004,007],rack[1-2]-n[1-8]-ib". Source: Slurm's
// hostlist(3) notation in SLURM_JOB_NODELIST and SLURM_STEP_NODELIST (srun(1)). Plain names and addresses are lists,
// too: "[fd00::1]:29511" is no range and is kept. Pure function.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace topoguard::check {

inline constexpr std::size_t kMostHosts = 16384;

/// The names in their order, leading zeros kept. nullopt where brackets do not match, a range is no range or runs
/// backwards, a name is empty, or there are more than kMostHosts.
std::optional<std::vector<std::string>> expand_nodelist(std::string_view text);

}  // namespace topoguard::check
