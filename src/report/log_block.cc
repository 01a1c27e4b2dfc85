// SPDX-License-Identifier: Apache-2.0
#include "report/log_block.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "document/printable.h"
#include "report/path_lines.h"
#include "report/phrases.h"

namespace topoguard {
namespace {

constexpr std::size_t kLine = 300;        // NCCL's own log line holds 1,024 bytes with prefix
constexpr std::size_t kGroupedFrom = 16;  // a host with 18 virtual functions or 200 veths would fill the log

std::string header(const Policy& policy, const RunFacts& run) {
  std::string line = "topoguard " + run.version;
  line += run.nccl_release.empty() ? " in an NCCL of unknown release" : " in NCCL " + run.nccl_release;
  if (!run.libnccl.empty()) line += " (" + run.libnccl + ")";
  if (!run.front_end.empty()) line += ", entered by " + front_end_phrase(run.front_end);
  return line + ", mode " + mode_phrase(policy);
}

std::string way(const RunFacts& run) {
  const std::string why = run.reason.empty() ? "" : ": " + run.reason;
  switch (run.way) {
    case Way::wrapped:
      return "NCCL's own transport runs under topoguard" + why;
    case Way::steering:
      return "steering only, NCCL's own transport is not wrapped" + why;
    case Way::observe:
      return "observing, nothing is changed" + why;
    case Way::off:
      break;
  }
  return "off" + why;
}

// Appends "word, word, ..." in lines that begin with lead.
void add_list(std::vector<std::string>& lines, const std::string& lead, const std::vector<std::string>& words) {
  std::string line = lead;
  for (const std::string& one : words) {
    const std::string word = printable(one, 80);
    if (line.size() > lead.size() && line.size() + word.size() + 2 > kLine) {
      lines.push_back(line);
      line = lead;
    }
    line += (line.size() > lead.size() ? ", " : "") + word;
  }
  lines.push_back(line);
}

void add_devices(std::vector<std::string>& lines, const std::vector<DeviceVerdict>& devices) {
  std::vector<const DeviceVerdict*> order;
  for (const DeviceVerdict& device : devices) order.push_back(&device);
  std::stable_sort(order.begin(), order.end(), [](auto* a, auto* b) {
    return std::tie(a->verdict, b->kind) < std::tie(b->verdict, a->kind);  // the chosen first, of these the HCAs
  });
  const auto lead = [](const DeviceVerdict& device) {
    return std::string(verdict_name(device.verdict)) + " " + std::string(device_kind_name(device.kind)) + " ";
  };
  if (devices.size() < kGroupedFrom) {
    for (const DeviceVerdict* device : order) {
      const std::string detail = device->detail.empty() ? "" : " (" + device->detail + ")";
      lines.push_back(printable(lead(*device) + device->name + ": " + device->reason + detail, kLine));
    }
    return;
  }
  std::map<std::tuple<Verdict, DeviceKind, std::string>, std::vector<std::string>> names;
  std::vector<const DeviceVerdict*> first;
  for (const DeviceVerdict* device : order) {
    auto& group = names[{device->verdict, device->kind, device->reason}];
    if (group.empty()) first.push_back(device);
    group.push_back(device->name);
  }
  for (const DeviceVerdict* device : first)
    add_list(lines, printable(lead(*device) + device->reason, 120) + ": ",
             names[{device->verdict, device->kind, device->reason}]);
}

}  // namespace

std::string finding_line(const Finding& finding) {
  std::string line = std::string(severity_name(finding.severity)) + " " + finding.code;
  if (!finding.device.empty()) line += " " + finding.device;
  line += ": " + finding.message;
  // a finding is worth more room than a device: its remedy stands at the end
  const std::string remedy = printable(finding.remedy, 300);
  return printable(line, 500) + (remedy.empty() ? "" : (line.back() == '.' ? " " : "; ") + remedy);
}

std::vector<std::string> log_block(const HostSnapshot& host, const Policy& policy, const Decision& decision,
                                   const RunFacts& run) {
  std::vector<std::string> lines = {printable(header(policy, run), kLine)};
  if (policy.mode == Mode::off) return lines;
  lines.push_back(printable(transport_phrase(decision, 200) + "; " + way(run), kLine));
  add_devices(lines, decision.devices);
  const bool changes = run.way == Way::wrapped || run.way == Way::steering;
  if (decision.env.empty()) {
    lines.push_back("sets " + sets_nothing_phrase(host, decision));
  } else {
    std::vector<std::string> words;
    for (const auto& [name, value] : decision.env) words.push_back(name + "=" + value);
    add_list(lines, changes ? "sets " : "would set ", words);
  }
  for (std::string& line : path_lines(host, policy, decision)) lines.push_back(std::move(line));
  for (const Finding& finding : decision.findings) lines.push_back(finding_line(finding));
  return lines;
}

}  // namespace topoguard
