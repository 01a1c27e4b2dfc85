// SPDX-License-Identifier: Apache-2.0
#include "decide/checks.h"
#include "decide/findings.h"

namespace topoguard {
namespace {

std::string setting(const char* name, const std::vector<Selector>& selectors) {
  std::string text;
  for (const auto& selector : selectors) text += (text.empty() ? "" : ",") + selector.text;
  return std::string(name) + "=" + text;
}

std::string setting(const char* name, const std::vector<Prefix>& subnets) {
  std::string text;
  for (const auto& subnet : subnets) text += (text.empty() ? "" : ",") + subnet.text();
  return std::string(name) + "=" + text;
}

/// What the decision is with the filter unheard.
std::string used(const Decision& decision) {
  constexpr std::size_t kNamed = 4;
  std::vector<std::string> names;
  for (const auto& hca : decision.hcas) names.push_back(hca.name);
  if (names.empty()) names = decision.socket.ifnames;
  if (names.empty()) return "nothing else is left either";
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kNamed; ++i) text += (i ? ", " : "") + names[i];
  if (names.size() > kNamed) text += " and " + std::to_string(names.size() - kNamed) + " more";
  return text + (names.size() > 1 ? " are" : " is") + " used, as without it";
}

}  // namespace

std::vector<Finding> check_filters(const Policy& policy, const UserSettings& user, const FilterUses& interfaces,
                                   const FilterUses& hcas, const Decision& decision) {
  std::vector<Finding> findings;
  // Lists of the user's own decide in the filters' place.
  const bool listed = user.ifname || user.is_set("NCCL_IB_HCA");
  const auto add = [&](const char* code, const std::string& message, const std::string& remedy = "") {
    findings.push_back(make_finding(code, "", message, remedy));
  };
  if (!policy.include.empty()) {
    const auto text = setting("TOPOGUARD_INCLUDE", policy.include);
    const bool excluded = interfaces.include_excluded || hcas.include_excluded;
    if (!interfaces.include.names && !hcas.include.names)
      add("filter-no-match", text + " names no interface and no HCA of this host; " + used(decision));
    else if (!listed && !interfaces.include.followed && !hcas.include.followed && excluded)
      add("filter-ignored", text + " names what TOPOGUARD_EXCLUDE takes away; " + used(decision),
          "Take it out of one of the two.");
    else if (!listed && !interfaces.include.followed && !hcas.include.followed)
      add("filter-ignored", text + " names nothing here that can be used; " + used(decision));
  }
  if (!policy.subnets.empty()) {
    const auto text = setting("TOPOGUARD_SUBNETS", policy.subnets);
    if (!interfaces.subnets.names && !hcas.subnets.names)
      add("filter-no-match", "no address of this host is in " + text + "; " + used(decision),
          "Correct the subnets, give an interface an address in one of them, or remove TOPOGUARD_SUBNETS.");
    else if (!listed && !interfaces.subnets.followed && !hcas.subnets.followed)
      add("filter-ignored", "no interface or HCA with an address in " + text + " can be used; " + used(decision));
  }
  if (policy.exclude.empty()) return findings;
  const auto text = setting("TOPOGUARD_EXCLUDE", policy.exclude);
  if (!interfaces.exclude.names && !hcas.exclude.names) {
    add("filter-no-match", text + " names no interface and no HCA of this host, and changes nothing");
    findings.back().severity = Severity::info;  // one list for many hosts
  }
  if (!user.ifname && interfaces.exclude.overridden)
    add("filter-ignored",
        text + " leaves no usable interface; " +
            (decision.socket.ifnames.empty() ? std::string("nothing") : decision.socket.ifnames.front()) +
            " is used all the same");
  if (!user.is_set("NCCL_IB_HCA") && hcas.exclude.overridden && !decision.hcas.empty())
    add("filter-ignored", text + " leaves no usable HCA; " + used(decision),
        "Leave an HCA out of TOPOGUARD_EXCLUDE. To go without any, set NCCL_IB_DISABLE=1.");
  return findings;
}

}  // namespace topoguard
