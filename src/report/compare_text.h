// SPDX-License-Identifier: Apache-2.0
// A comparison of hosts for people.
#pragma once

#include <string>

#include "compare/compare.h"
#include "report/doctor.h"

namespace topoguard {

/// One paragraph per finding, with the hosts concerned: at most eight of them unless verbose. Every line fits 100
/// columns.
std::string compare_text(const CompareResult& result, const TextStyle& style);

}  // namespace topoguard
