// SPDX-License-Identifier: Apache-2.0
// One process's part in a check, from its placement to its exit status.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "check/gathered.h"
#include "check/launcher.h"
#include "topoguard/decision.h"
#include "topoguard/snapshot.h"

namespace topoguard::check {

struct RunResult {
  int status = 2;                    ///< 0 clean, 1 warnings, 2 errors: the same in all processes of the check
  std::optional<Gathered> gathered;  ///< at rank 0 alone
  std::vector<Finding> findings;     ///< likewise
  std::vector<std::string> errors;   ///< what kept this very process from taking part as it should
};

/// Opens the ports, meets the others and tries their addresses. About `whole` long at most, whoever is away.
RunResult run(const Placement& placement, const HostSnapshot& host, const Decision& decision,
              const std::string& machine, std::chrono::milliseconds whole);

}  // namespace topoguard::check
