// SPDX-License-Identifier: Apache-2.0
// The environment of this very process, for what must be known before or without a snapshot. The one getenv.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace topoguard {

/// nullopt where unset. Not for privileged decisions: see is_privileged().
std::optional<std::string> live_variable(std::string_view name);

/// Secure execution (setuid, file capabilities): the environment is an attacker's, getauxval(3) AT_SECURE.
bool is_privileged();

}  // namespace topoguard
