// SPDX-License-Identifier: Apache-2.0
#include "report/phrases.h"

#include <algorithm>
#include <vector>

#include "document/printable.h"

namespace topoguard {
namespace {

std::string list(const std::vector<std::string>& words, std::size_t limit) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0 && out.size() + words[i].size() + 2 > limit)
      return out + " and " + std::to_string(words.size() - i) + " more";
    out += (i > 0 ? ", " : "") + words[i];
  }
  return out;
}

}  // namespace

std::string front_end_phrase(std::string_view front_end) {
  if (front_end == "net") return "the net plugin";
  if (front_end == "env") return "the env plugin";
  if (front_end == "preload") return "LD_PRELOAD";
  if (front_end == "exec") return "topoguard exec";
  if (front_end == "tool") return "the command";
  return printable(front_end, 40);
}

std::string mode_phrase(const Policy& policy) {
  const std::string_view mode = policy.mode == Mode::enforce   ? "enforce"
                                : policy.mode == Mode::observe ? "observe"
                                                               : "off";
  const auto source = policy.sources.find("TOPOGUARD_MODE");
  if (source == policy.sources.end() || source->second == SettingSource::built_in)
    return std::string(mode) + " (default)";
  return std::string(mode) +
         (source->second == SettingSource::file ? " (from the settings file)" : " (from the environment)");
}

std::string interface_phrase(const SocketChoice& socket, const std::string& ifname) {
  const auto address = socket.addresses.find(ifname);
  return printable(ifname, 40) + (address == socket.addresses.end() ? "" : " (" + address->second.text() + ")");
}

std::string hca_phrase(const HcaChoice& hca) { return printable(hca.name, 60) + ":" + std::to_string(hca.port); }

std::string transport_phrase(const Decision& decision, std::size_t limit) {
  std::vector<std::string> words;
  if (decision.transport == Transport::ib) {
    for (const HcaChoice& hca : decision.hcas) words.push_back(hca_phrase(hca));
    std::string out = "IB over " + list(words, limit);
    if (!decision.socket.ifnames.empty())
      out += "; bootstrap on " + interface_phrase(decision.socket, decision.socket.ifnames[0]);
    return out;
  }
  if (decision.transport == Transport::socket && !decision.socket.ifnames.empty()) {
    for (const std::string& ifname : decision.socket.ifnames)
      words.push_back(interface_phrase(decision.socket, ifname));
    return "Socket over " + list(words, limit);
  }
  if (decision.transport == Transport::socket) return "Socket over what NCCL takes by itself";
  return "no transport: no usable network device is left";
}

std::string sets_nothing_phrase(const HostSnapshot& host, const Decision& decision) {
  if (decision.transport == Transport::none) return "nothing: there is no device to lead NCCL to";
  for (const Finding& finding : decision.findings)
    if (finding.code == "address-not-steerable" || finding.code == "gid-not-steerable")
      return "nothing: no variable leads NCCL there, see " + finding.code;
  const bool asked = std::any_of(host.env.begin(), host.env.end(),
                                 [](const auto& variable) { return variable.first.rfind("NCCL_", 0) == 0; });
  return asked ? "nothing: NCCL takes these by itself, or by the NCCL_* variables that are set"
               : "nothing: NCCL takes these by itself";
}

std::string variables_phrase(const std::map<std::string, std::string>& variables) {
  std::string out;
  for (const auto& [name, value] : variables) out += (out.empty() ? "" : " ") + name + "=" + value;
  return out;
}

Paint paint_of(Verdict verdict) {
  return verdict == Verdict::chosen ? Paint::good : verdict == Verdict::eligible ? Paint::note : Paint::dim;
}

}  // namespace topoguard
