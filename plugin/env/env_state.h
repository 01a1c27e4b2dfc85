// SPDX-License-Identifier: Apache-2.0
// What the env plugin has worked out for this process. One place for both interface versions.
#pragma once

#include <cstdint>
#include <string>

#include "core/session.h"
#include "launch/env_answers.h"

namespace topoguard {

/// Decides, the first time, and keeps the answers. Never fails: without answers the environment speaks alone.
/// Runs inside NCCL's own initialisation: no call into NCCL, its logger included, may be made from here.
void prepare_answers(std::uint8_t major, std::uint8_t minor, std::uint8_t patch) noexcept;

/// Any thread, also with NCCL's locks held. Null = unset.
const char* answer(const char* name) noexcept;

/// The answers for one session; parts of prepare_answers(), for tests.
EnvAnswers answers_for(const Session& session, const NcclRelease& release, bool default_name_is_ours);

/// Will NCCL call our net plugin, which says what was decided? Else whoever was called must say the warnings.
bool net_plugin_speaks(const Session& session, bool default_name_is_ours);

/// Is there a libnccl-net.so beside this library that is this library?
bool default_name_is_ours();

}  // namespace topoguard
