// SPDX-License-Identifier: Apache-2.0
// A decision as topoguard.decision/1, for whoever puts it into a document of its own.
#pragma once

#include "document/json_writer.h"
#include "topoguard/decision.h"

namespace topoguard {

/// All but "findings".
JsonObject decision_json(const Decision& decision);
JsonArray findings_json(const std::vector<Finding>& findings);

}  // namespace topoguard
