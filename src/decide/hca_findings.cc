// SPDX-License-Identifier: Apache-2.0
#include "decide/hca_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "decide/findings.h"
#include "decide/hca_filters.h"

namespace topoguard {

namespace {

constexpr std::size_t kNamed = 8;  // devices named one by one in a message; more are counted

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kNamed); ++i) text += (i > 0 ? ", " : "") + names[i];
  if (names.size() > kNamed) text += fmt::format(" and {} more", names.size() - kNamed);
  return text;
}

struct Case {
  std::string device;
  std::string message;
  bool minor = false;  ///< nothing is lost by it here
};

// One finding per device; a host full of virtual functions gets one for them all.
void add(std::vector<Finding>& findings, std::string_view code, const std::vector<Case>& cases,
         const std::string& remedy = "") {
  if (cases.size() <= kNamed) {
    for (const auto& one : cases) {
      findings.push_back(make_finding(code, one.device, one.message, remedy));
      if (one.minor) findings.back().severity = Severity::info;
    }
    return;
  }
  std::vector<std::string> names;
  for (const auto& one : cases) names.push_back(one.device);
  findings.push_back(make_finding(
      code, "", fmt::format("{} HCAs ({}); the first: {}", cases.size(), join(names), cases.front().message), remedy));
  if (std::all_of(cases.begin(), cases.end(), [](const Case& one) { return one.minor; }))
    findings.back().severity = Severity::info;
}

bool has_reason(const PortState& state, std::string_view reason) { return state.reason == reason; }

// A second port without a cable, or a physical function whose virtual function is used, costs nothing.
bool card_is_used(const std::vector<PortState>& states, const PortState& state) {
  const auto id = [](const std::optional<std::string>& pci) { return pci ? normal_pci_id(*pci) : std::string(); };
  return std::any_of(states.begin(), states.end(), [&](const PortState& other) {
    if (!other.left()) return false;
    if (other.device == state.device) return true;
    const auto function = id(state.device->pci);
    return !function.empty() &&
           (id(other.device->physfn) == function || id(state.device->physfn) == id(other.device->pci));
  });
}

}  // namespace

std::vector<Finding> hca_state_findings(const std::vector<PortState>& states) {
  std::vector<Finding> findings;
  std::vector<Case> closed, down, waiting, no_gid;
  const RdmaDevice* last_closed = nullptr;
  for (const auto& state : states) {
    const auto& device = *state.device;
    if (device.usable && !*device.usable && last_closed != &device) {
      last_closed = &device;
      closed.push_back({device.name, fmt::format("{} is listed and cannot be opened by this process.", device.name)});
    }
    if (state.port == nullptr || has_reason(state, "iwarp")) continue;
    const bool inactive = state.port->state && *state.port->state != "ACTIVE";
    const bool init = state.layer == "InfiniBand" && state.port->state.value_or("") == "INIT" &&
                      state.port->phys_state.value_or("LinkUp") == "LinkUp";
    if (init)
      waiting.push_back(
          {device.name, fmt::format("{} port {} has its link but no subnet manager has configured it "
                                    "(state INIT, sm_lid {}). It cannot carry data; cable and port are fine.",
                                    device.name, state.port->port, state.port->sm_lid.value_or(0))});
    else if (inactive)
      down.push_back(
          {device.name,
           fmt::format("{} port {} is {}{}, not ACTIVE: no data can go through it.", device.name, state.port->port,
                       *state.port->state, state.port->phys_state ? " (" + *state.port->phys_state + ")" : ""),
           card_is_used(states, state)});
    if (has_reason(state, "gid-missing") ||
        (has_reason(state, "user-listed") && state.ethernet() && state.port->gids && state.gids.usable.empty()))
      no_gid.push_back({device.name,
                        fmt::format("{} port {} is active and has no usable GID in this network namespace: {}.",
                                    device.name, state.port->port, state.gids.problem),
                        card_is_used(states, state) && !state.left()});
  }
  add(findings, "hca-unusable", closed);
  add(findings, "port-down", down);
  add(findings, "subnet-manager-missing", waiting);
  add(findings, "gid-missing", no_gid);
  return findings;
}

namespace {

void mixed_link_layer(const std::vector<PortState>& states, std::vector<Finding>& findings) {
  std::vector<std::string> chosen[2], left_out[2];
  for (const auto& state : states) {
    if (state.port == nullptr || (state.verdict == Verdict::rejected && !has_reason(state, "link-local"))) continue;
    auto& list = state.left() ? chosen : left_out;
    list[state.ethernet() ? 1 : 0].push_back(state.name());
  }
  static constexpr const char* kNames[2] = {"InfiniBand", "Ethernet"};
  if (!chosen[0].empty() && !chosen[1].empty()) {
    findings.push_back(
        make_finding("mixed-link-layer", "",
                     fmt::format("NCCL_IB_HCA takes InfiniBand ({}) and Ethernet ({}) ports together. Where "
                                 "one kind of one host meets the other of the next, no connection comes up.",
                                 join(chosen[0]), join(chosen[1]))));
    return;
  }
  for (const int kind : {0, 1}) {
    const int other = 1 - kind;
    if (chosen[kind].empty() || left_out[other].empty()) continue;
    const bool by_user = std::all_of(states.begin(), states.end(), [](const PortState& s) {
      return s.port == nullptr || s.verdict == Verdict::rejected || s.reason == "user-listed" ||
             s.reason == "not-listed";
    });
    if (by_user) continue;
    // Slow Ethernet ports for storage and management beside an InfiniBand fabric are the usual thing.
    const bool rival = std::any_of(states.begin(), states.end(), [&](const PortState& out) {
      if (out.port == nullptr || out.verdict != Verdict::eligible || out.ethernet() != (other == 1)) return false;
      return std::any_of(states.begin(), states.end(), [&](const PortState& in) {
        return in.left() && (!in.gbps || !out.gbps || *out.gbps >= *in.gbps || same_class(*out.gbps, *in.gbps));
      });
    });
    findings.push_back(
        make_finding("mixed-link-layer", left_out[other].front().substr(0, left_out[other].front().rfind(':')),
                     fmt::format("{} and {} HCAs are both active, and the two cannot talk to each other. {} "
                                 "is used ({}); left out: {}.",
                                 kNames[0], kNames[1], kNames[kind], join(chosen[kind]), join(left_out[other]))));
    if (!rival) findings.back().severity = Severity::info;
  }
}

const PortState* state_of(const std::vector<PortState>& states, const HcaChoice& hca) {
  for (const auto& state : states)
    if (state.port != nullptr && state.device->name == hca.name && state.port->port == hca.port) return &state;
  return nullptr;
}

std::string right_gid(const PortState& state) {
  const auto* best = state.gids.best();
  return best == nullptr ? "no entry is usable"
                         : fmt::format("index {} ({}) is right", best->entry->index, best->entry->gid.text());
}

// Settings of the user that lead NCCL's search where it ends.
std::string unset_guides(const View& view, const UserSettings& user) {
  std::vector<std::string> set;
  if (view.release().searches_gid())
    for (const char* name : {"NCCL_IB_ADDR_FAMILY", "NCCL_IB_ADDR_RANGE", "NCCL_IB_ROCE_VERSION_NUM"})
      if (const auto* value = user.find(name)) set.push_back(fmt::format("{}={}", name, *value));
  return set.empty() ? "" : fmt::format("Where that is not what you want, unset {}.", join(set));
}

void wrong_gids(const View& view, const UserSettings& user, const std::vector<PortState>& states,
                const std::vector<HcaChoice>& chosen, std::vector<Finding>& findings) {
  const auto pin = user.number("NCCL_IB_GID_INDEX");
  std::vector<Case> stale, lost;
  for (const auto& hca : chosen) {
    const auto* state = state_of(states, hca);
    if (state == nullptr || !state->ethernet() || !state->port->gids) continue;
    if (pin && *pin >= 0) {
      const int index = static_cast<int>(std::min<std::int64_t>(*pin, 1 << 20));
      if (const auto why = stale_pin(*state->port, state->gids, index))
        stale.push_back({hca.name, fmt::format("NCCL_IB_GID_INDEX={} is set, and on {} port {} {}; {}.", *pin, hca.name,
                                               hca.port, *why, right_gid(*state))});
      continue;
    }
    const auto* best = state->gids.best();
    const auto* got = hca.gid_index ? state->gids.at(*hca.gid_index) : nullptr;
    if (best != nullptr && (got == nullptr || !got->rank.as_good_as(best->rank)))
      lost.push_back(
          {hca.name, fmt::format("NCCL {} takes GID {} on {} port {}; {}, and no setting that is free leads there.",
                                 view.release().text(),
                                 hca.gid_index ? fmt::format("index {}", *hca.gid_index) : std::string("none at all"),
                                 hca.name, hca.port, right_gid(*state))});
  }
  for (const auto& state : states)
    if (has_reason(state, "gid-not-steerable"))
      lost.push_back({state.device->name, fmt::format("{} port {} {}; it is left out.", state.device->name,
                                                      state.port->port, state.detail)});
  add(findings, "gid-pin-stale", stale);
  add(findings, "gid-not-steerable", lost, unset_guides(view, user));
}

}  // namespace

std::vector<Finding> hca_use_findings(const View& view, const UserSettings& user, const std::vector<PortState>& states,
                                      const std::vector<HcaChoice>& chosen) {
  std::vector<Finding> findings;
  mixed_link_layer(states, findings);
  wrong_gids(view, user, states, chosen, findings);
  const auto beyond =
      std::count_if(states.begin(), states.end(), [](const PortState& s) { return s.reason == "nccl-limit"; });
  if (beyond > 0)
    findings.push_back(make_finding("nccl-limit", "",
                                    fmt::format("NCCL {} holds {} HCA ports; {} more that are as good are left out.",
                                                view.release().text(), view.release().max_hcas(), beyond)));
  const auto& host = view.host();
  constexpr std::int64_t kEnough = std::int64_t{1} << 30;
  if (const auto limit = host.process.memlock_bytes; limit && *limit >= 0 && *limit < kEnough)
    findings.push_back(
        make_finding("memlock-low", "",
                     fmt::format("RDMA is used and this process may lock only {} KiB of memory: registering "
                                 "buffers will fail.",
                                 *limit / 1024)));
  auto peermem = host.gpu_driver.peermem;
  if (!peermem && host.system.modules)
    peermem = std::any_of(host.system.modules->begin(), host.system.modules->end(), [](const std::string& module) {
      return module == "nvidia_peermem" || module == "nv_peer_mem";
    });
  const bool dmabuf_gone = host.gpu_driver.dmabuf && !*host.gpu_driver.dmabuf;
  if (!known(host.gpus).empty() && dmabuf_gone && peermem && !*peermem)
    findings.push_back(
        make_finding("gdr-unavailable", "",
                     "Neither a peer-memory module is loaded nor does the GPU driver export DMA-BUF: GPUDirect "
                     "RDMA is off, and every message goes through host memory."));
  return findings;
}

std::string why_no_hca(const std::vector<PortState>& states) {
  static const std::map<std::string, std::string, std::less<>> words{
      {"own-plugin", "for their vendor's own plugin"},
      {"iwarp", "iWARP"},
      {"unopenable", "cannot be opened"},
      {"no-port", "without a port"},
      {"subnet-manager-missing", "waiting for a subnet manager"},
      {"port-down", "with the port down"},
      {"link-layer-unknown", "neither InfiniBand nor Ethernet"},
      {"gid-missing", "without a usable GID here"},
      {"not-listed", "not in NCCL_IB_HCA"}};
  std::map<std::string, int> counts;
  for (const auto& state : states) ++counts[state.reason];
  std::string text;
  for (const auto& [reason, count] : counts) {
    const auto word = words.find(reason);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, word != words.end() ? word->second : reason);
  }
  return text;
}

}  // namespace topoguard
