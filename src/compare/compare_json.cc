// SPDX-License-Identifier: Apache-2.0
#include "compare/compare_json.h"

#include <nlohmann/json.hpp>

namespace topoguard {

std::string write_comparison(const CompareResult& result) {
  using Json = nlohmann::ordered_json;
  auto findings = Json::array();
  for (const auto* list : {&result.findings, &result.own})
    for (const auto& [finding, hosts] : *list) {
      Json one;
      one["severity"] = severity_name(finding.severity);
      one["code"] = finding.code;
      if (!finding.device.empty()) one["device"] = finding.device;
      one["message"] = finding.message;
      one["remedy"] = finding.remedy;
      one["hosts"] = hosts;
      findings.push_back(std::move(one));
    }
  Json document;
  document["schema"] = "topoguard.compare/1";
  document["hosts"] = result.hosts;
  document["findings"] = std::move(findings);
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace topoguard
