// SPDX-License-Identifier: Apache-2.0
// The policy that a recorded or live host was given. Pure.
#pragma once

#include "topoguard/policy.h"
#include "topoguard/snapshot.h"

namespace topoguard {

/// Settings come from snapshot.topoguard.config (the settings file), then snapshot.env, which wins. An empty value
/// counts as unset. Never fails: what cannot be read keeps its default and gives one entry of Policy::problems, as does
/// an unknown TOPOGUARD_* name and every note about the settings file (config_file.h).
Policy policy_from(const HostSnapshot& host);

}  // namespace topoguard
