// SPDX-License-Identifier: Apache-2.0
#include "report/compare_text.h"

#include "document/layout.h"

namespace topoguard {
namespace {

constexpr std::size_t kShown = 8;

std::string hosts_phrase(const std::vector<std::string>& hosts, bool all) {
  std::string out;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (!all && i == kShown && hosts.size() > kShown + 1)
      return out + " and " + std::to_string(hosts.size() - i) + " more";
    out += (i > 0 ? ", " : "") + hosts[i];
  }
  return out;
}

void add(std::string& out, const std::vector<HostsFinding>& findings, const TextStyle& style) {
  for (const HostsFinding& item : findings) {
    out += findings_text({item.finding}, style);
    if (!item.hosts.empty())
      out += std::string(11, ' ') + wrapped("hosts: " + hosts_phrase(item.hosts, style.verbose), 11, 18);
  }
}

}  // namespace

std::string compare_text(const CompareResult& result, const TextStyle& style) {
  std::string out = painted(std::to_string(result.hosts.size()) + (result.hosts.size() == 1 ? " host" : " hosts"),
                            Paint::strong, style.colour) +
                    ": " + wrapped(hosts_phrase(result.hosts, style.verbose), 12, 2);
  out += "\n" + painted("Between hosts", Paint::strong, style.colour) + "\n";
  if (result.findings.empty()) out += "  Nothing differs that would hang or slow a job.\n";
  add(out, result.findings, style);
  if (!result.own.empty()) {
    out += "\n" + painted("Each host's own", Paint::strong, style.colour) + "\n";
    add(out, result.own, style);
  }
  return out;
}

}  // namespace topoguard
