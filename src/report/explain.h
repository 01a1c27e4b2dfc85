// SPDX-License-Identifier: Apache-2.0
// Why one device was chosen or left out, for people and for programs: what decide --explain prints. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "report/doctor.h"
#include "topoguard/decision.h"

namespace topoguard {

/// Every row that matched the device, in order, and those that speak about all devices of its kind: the transport, and
/// the variables by which NCCL is brought to the choice.
std::vector<RuleMatch> explanation(const Decision& decision, const std::string& device);

/// The verdict, then the rows, numbered; every line fits 100 columns.
std::string explanation_text(const Decision& decision, const std::string& device, const TextStyle& style);
std::string explanation_json(const Decision& decision, const std::string& device);

}  // namespace topoguard
