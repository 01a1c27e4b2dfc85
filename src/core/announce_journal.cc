// SPDX-License-Identifier: Apache-2.0
#include "core/announce_journal.h"

#include "document/decision_json.h"

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
  journal::Event event;
  event.put("topoguard", facts.version);
  if (!facts.nccl_release.empty()) event.put("nccl", facts.nccl_release);
  if (!facts.libnccl.empty()) event.put("libnccl", facts.libnccl);
  event.put("front_end", facts.front_end).put("mode", mode_name(session.policy.mode)).put("way", way_name(facts.way));
  if (!facts.reason.empty()) event.put("reason", facts.reason);
  return event.put("decision", decision_json(session.decision));
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
