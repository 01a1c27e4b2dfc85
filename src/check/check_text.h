// SPDX-License-Identifier: Apache-2.0
// The result of a check, for people and as the document topoguard.check/1 (docs/check.md). Pure functions.
#pragma once

#include <string>
#include <vector>

#include "check/gathered.h"
#include "report/doctor.h"
#include "topoguard/decision.h"

namespace topoguard::check {

/// Hosts, connections and findings. Of many hosts and connections only those with a trouble are listed, unless verbose.
/// Every line fits 100 columns.
std::string check_text(const Gathered& gathered, const std::vector<Finding>& findings, const TextStyle& style);
std::string check_json(const Gathered& gathered, const std::vector<Finding>& findings);

}  // namespace topoguard::check
