// SPDX-License-Identifier: Apache-2.0
#include "core/announce_journal.h"

#include "document/document.h"

namespace topoguard {
namespace {

std::string_view mode_name(Mode mode) {
  return mode == Mode::enforce ? "enforce" : mode == Mode::observe ? "observe" : "off";
}

}  // namespace

std::string_view way_name(Way way) {
  switch (way) {
    case Way::wrapped:
      return "wrapped";
    case Way::steering:
      return "steering";
    case Way::observe:
      return "observe";
    case Way::off:
      break;
  }
  return "off";
}

journal::Event start_event(const Session& session, const RunFacts& facts) {
  auto decision = journal::Event::parse(write_decision(session.decision, Layout::line));
  decision.erase("findings");
  journal::Event event = {{"topoguard", facts.version}};
  if (!facts.nccl_release.empty()) event["nccl"] = facts.nccl_release;
  if (!facts.libnccl.empty()) event["libnccl"] = facts.libnccl;
  event["front_end"] = facts.front_end;
  event["mode"] = mode_name(session.policy.mode);
  event["way"] = way_name(facts.way);
  if (!facts.reason.empty()) event["reason"] = facts.reason;
  event["decision"] = std::move(decision);
  return event;
}

void count_start(journal::Metrics& metrics, const Session& session, const RunFacts& facts) {
  using journal::Metric;
  const Decision& decision = session.decision;
  metrics.set(Metric::info,
              {{"version", facts.version},
               {"nccl", facts.nccl_release},
               {"front_end", facts.front_end},
               {"mode", std::string(mode_name(session.policy.mode))},
               {"way", std::string(way_name(facts.way))},
               {"transport", std::string(transport_name(decision.transport))}},
              1);
  for (const auto& device : decision.devices)
    metrics.set(Metric::device_state,
                {{"kind", std::string(device_kind_name(device.kind))},
                 {"device", device.name},
                 {"verdict", std::string(verdict_name(device.verdict))},
                 {"reason", device.reason}},
                1);
  // 0 with cause "none" on a host that does not fall back.
  metrics.set(Metric::fallback, {{"cause", decision.fallback.empty() ? "none" : decision.fallback}},
              decision.fallback.empty() ? 0 : 1);
}

}  // namespace topoguard
