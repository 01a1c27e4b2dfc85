// SPDX-License-Identifier: Apache-2.0
#include "document/decision_json.h"
#include "document/document.h"
#include "document/write_common.h"

namespace topoguard {

std::string write_decision(const Decision& decision, Layout layout) {
  const std::string line = decision_json(decision).put("findings", findings_json(decision.findings)).text();
  return layout == Layout::line ? line + "\n" : json::dump(json::Ordered::parse(line), layout);
}

}  // namespace topoguard
