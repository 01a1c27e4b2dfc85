// SPDX-License-Identifier: Apache-2.0
#include "core/drift.h"

#include <algorithm>

#include "core/announce.h"
#include "core/guard.h"
#include "decide/decide.h"
#include "decide/drift.h"
#include "host/collect.h"

namespace topoguard {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<Clock::rep> last_look{0};
std::atomic<bool> told_choice{false};  // a warning is said once per code by itself

// Eight communicators of eight GPUs are created at once: one look serves them all.
bool is_due(const Session& session, std::chrono::milliseconds pause) {
  const auto now = Clock::now();
  auto last = last_look.load();
  const auto before = std::max(session.when, Clock::time_point(Clock::duration(last)));
  return now - before >= pause && last_look.compare_exchange_strong(last, now.time_since_epoch().count());
}

}  // namespace

void look_again(const Session& session, const Voice& voice) noexcept {
  if (session.off || !session.decided || voice.silent) return;
  guarded(false, [&] {
    const SessionParts parts = session_parts();
    if (!is_due(session, parts.pause)) return true;
    const HostSnapshot now = parts.drift ? parts.drift(parts.sources) : collect_drift(parts.sources);
    if (!now.links && !now.rdma) return true;
    const HostSnapshot after = seen_again(session.host, now);
    const Decision would = parts.decide ? parts.decide(after, session.policy) : decide(after, session.policy);
    const auto findings = find_drift(session.host, session.decision, after, would);
    complain_of(voice, findings);
    for (const auto& finding : findings)
      if (finding.severity == Severity::info && !told_choice.exchange(true))
        say(voice, "topoguard: " + finding.message);
    return true;
  });
}

}  // namespace topoguard
