// SPDX-License-Identifier: Apache-2.0
// A decision for people: what will be used, what NCCL alone would take, every device and why, what is wrong and what to
// do. Every line fits 100 columns. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "topoguard/decision.h"
#include "topoguard/policy.h"
#include "topoguard/snapshot.h"

namespace topoguard {

struct TextStyle {
  bool colour = false;
  bool verbose = false;  ///< every device on its own line with its detail; what could not be read
};

std::string doctor_text(const HostSnapshot& host, const Policy& policy, const Decision& decision,
                        const TextStyle& style);

/// Severity, code and device, then message and remedy; errors first. "No findings." where there is none.
std::string findings_text(const std::vector<Finding>& findings, const TextStyle& style);

/// What NCCL of the snapshot's release would take here without topoguard, the user's own settings included.
std::string nccl_alone_phrase(const HostSnapshot& host);

}  // namespace topoguard
