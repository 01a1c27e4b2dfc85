// SPDX-License-Identifier: Apache-2.0
#include "core/announce.h"

#include <atomic>
#include <map>

#include "core/announce_journal.h"
#include "core/guard.h"

namespace topoguard {
namespace {

std::atomic<bool> announced{false};

}  // namespace

void complain_of(const Voice& voice, const std::vector<Finding>& findings) {
  std::map<std::string, int> devices;
  for (const auto& finding : findings) ++devices[finding.code];
  for (const auto& finding : findings) {
    journal::finding(voice, finding);
    if (finding.severity == Severity::info) continue;
    const int more = devices[finding.code] - 1;
    std::string line = (finding.device.empty() ? std::string() : finding.device + ": ") + finding.message;
    if (!finding.remedy.empty()) line += (line.back() == '.' ? " Remedy: " : ". Remedy: ") + finding.remedy;
    if (more > 0) line += " (and " + std::to_string(more) + " more of this kind)";
    complain_aloud(voice, finding.severity, finding.code, line);
  }
}

void announce(const Session& session, const NcclObject* nccl, Way way, const std::string& reason,
              tgnccl_logger_t logger) noexcept {
  if (session.off || !session.decided || announced.exchange(true)) return;
  const Voice voice = session.voice(logger);
  guarded(false, [&] {
    RunFacts facts;
    facts.version = TOPOGUARD_VERSION;
    facts.libnccl = nccl != nullptr ? nccl->object.path : std::string();
    facts.nccl_release = nccl != nullptr ? nccl->release : std::string();
    facts.front_end = session.host.topoguard.front_end.value_or("net");
    facts.way = way;
    facts.reason = reason;
    journal::event(voice, "start", [&] { return start_event(session, facts); });
    journal::count([&](journal::Metrics& metrics) { count_start(metrics, session, facts); });
    for (const auto& line : log_block(session.host, session.policy, session.decision, facts))
      say(voice, line.rfind("topoguard ", 0) == 0 ? line : "topoguard: " + line);
    complain_of(voice, session.policy.problems);
    complain_of(voice, session.decision.findings);
    journal::write_metrics(voice, journal::When::now);
    return true;
  });
}

void forget_announcement() { announced = false; }

}  // namespace topoguard
