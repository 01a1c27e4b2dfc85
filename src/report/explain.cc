// SPDX-License-Identifier: Apache-2.0
#include "report/explain.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "document/layout.h"
#include "document/printable.h"
#include "report/phrases.h"

namespace topoguard {
namespace {

bool concerns(std::string_view rule, bool netdev, bool hca) {
  if (rule.rfind("transport-", 0) == 0) return true;
  return rule == "socket-steering" ? netdev : hca;
}

}  // namespace

std::vector<RuleMatch> explanation(const Decision& decision, const std::string& device) {
  bool netdev = false, hca = false;
  for (const DeviceVerdict& verdict : decision.devices)
    if (verdict.name == device) (verdict.kind == DeviceKind::netdev ? netdev : hca) = true;
  std::vector<RuleMatch> rows;
  for (const RuleMatch& match : decision.trace)
    if (match.device == device) rows.push_back(match);
  for (const RuleMatch& match : decision.trace)
    if (match.device.empty() && concerns(match.rule, netdev, hca)) rows.push_back(match);
  return rows;
}

std::string explanation_text(const Decision& decision, const std::string& device, const TextStyle& style) {
  std::string out;
  for (const DeviceVerdict& verdict : decision.devices) {
    if (verdict.name != device) continue;
    out += printable(device, 60) + ": " +
           painted(verdict_name(verdict.verdict), paint_of(verdict.verdict), style.colour) + ", " +
           printable(verdict.reason) + "\n";
    if (!verdict.detail.empty()) out += "  " + wrapped(verdict.detail, 2, 2);
  }
  int number = 0;
  for (const RuleMatch& match : explanation(decision, device)) {
    const std::string lead = padded(std::to_string(++number) + ".", 4);
    out += "  " + lead + wrapped(match.rule + ": " + match.effect, 2 + lead.size(), 2 + lead.size());
  }
  return out;
}

std::string explanation_json(const Decision& decision, const std::string& device) {
  nlohmann::ordered_json out = {{"device", device}, {"rules", nlohmann::ordered_json::array()}};
  for (const DeviceVerdict& verdict : decision.devices) {
    if (verdict.name != device) continue;
    out["verdict"] = verdict_name(verdict.verdict);
    out["reason"] = verdict.reason;
    out["detail"] = verdict.detail;
  }
  for (const RuleMatch& match : explanation(decision, device))
    out["rules"].push_back({{"rule", match.rule}, {"effect", match.effect}});
  return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace topoguard
