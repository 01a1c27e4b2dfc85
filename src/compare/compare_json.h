// SPDX-License-Identifier: Apache-2.0
// The document topoguard.compare/1 (docs/host-snapshot.md). Reentrant; throws nothing.
#pragma once

#include <string>

#include "compare/compare.h"

namespace topoguard {

/// Findings across hosts, then each host's own (where they were kept). Ends with a line end; bytes that are not UTF-8
/// become U+FFFD.
std::string write_comparison(const CompareResult& result);

}  // namespace topoguard
