// SPDX-License-Identifier: Apache-2.0
#include "core/session.h"

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <set>

#include "core/guard.h"
#include "core/journal.h"
#include "decide/decide.h"
#include "host/environment.h"
#include "host/plugins.h"
#include "host/process_env.h"
#include "launch/companions.h"
#include "nccl_rules/interfaces.h"
#include "policy/policy_from.h"
#include "steer/environment.h"
#include "steer/provenance.h"

namespace topoguard {
namespace {

struct Remembered {
  std::mutex mutex;
  SessionParts parts;
  Session* session = nullptr;  // never freed: references to it are handed out
};

// Never destroyed: NCCL may call after static destructors ran.
Remembered& remembered() {
  static auto* state = new Remembered;
  return *state;
}

// What the user set, as a recorded environment: collectors see neither our own variables nor, in a privileged process,
// anything that an attacker could set for us.
Sources for_user(const Sources& sources, UserEnvironment* split) {
  Sources user = sources;
  user.environment = user_entries(host::environment_entries(sources), split);
  user.live_environment = false;
  if (sources.live_environment && is_privileged()) {
    const auto forbidden = [](const std::string& entry) {
      return entry.rfind("TOPOGUARD_", 0) == 0 || entry.rfind("LD_LIBRARY_PATH=", 0) == 0;
    };
    std::vector<std::string> safe;
    for (auto& entry : user.environment)
      if (!forbidden(entry)) safe.push_back(std::move(entry));
    user.environment = std::move(safe);
  }
  return user;
}

// NCCL's own variable tells where it can be read. Else its rules, with the environment as it really was then: what a
// parent published counts here, for NCCL read it.
std::optional<std::string> bootstrap_of(const Caller& caller, const Sources& live, const HostSnapshot& host) {
  if (caller.nccl != nullptr) {
    const std::string name = bootstrap_interface(*caller.nccl);
    for (const auto& link : known(host.links))
      if (link.ifname == name) return name;
  }
  if (!host.links) return std::nullopt;
  HostSnapshot raw;
  host::read_environment(live, host::environment_entries(live), host.nccl_version, raw);
  // That reader leaves out what we published, too.
  for (const auto& entry : host::environment_entries(live)) {
    const auto equals = entry.find('=');
    if (equals != std::string::npos && entry.rfind("NCCL_", 0) == 0)
      raw.env.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  const auto release = host.nccl_version ? NcclRelease::parse(*host.nccl_version) : std::nullopt;
  const auto pick = nccl_bootstrap(release.value_or(kNewestNccl), getifaddrs_order(*host.links, host.system.kernel),
                                   [&raw](std::string_view name) -> const std::string* {
                                     const auto found = raw.env.find(std::string(name));
                                     return found != raw.env.end() ? &found->second : nullptr;
                                   });
  if (!pick.interface) return std::nullopt;
  return pick.interface->device;
}

bool steer(const std::map<std::string, std::string>& variables, const UserEnvironment& inherited,
           const Sources& sources) {
  std::set<std::string> removals(inherited.ours.begin(), inherited.ours.end());
  auto additions = variables;
  for (const auto& [name, value] : additions) removals.erase(name);
  if (!additions.empty())
    additions[kApplied] = applied_value(host_identity(sources), variables);
  else if (!inherited.ours.empty())
    removals.insert(kApplied);
  if (additions.empty() && removals.empty()) return false;
  return publish_environment(additions, removals);
}

// What topoguard hides by standing in the net plugin's place. The env plugin knows better whether it does.
Companions base_companions(const Caller& caller, const Session& session, const Sources& sources) {
  const auto release = session.host.nccl_version ? NcclRelease::parse(*session.host.nccl_version) : std::nullopt;
  if (!release || caller.front_end == FrontEnd::env) return {};
  return companions_of(expected_base(session.host, session.policy.base), *release, session.host, sources);
}

// Off and observing, too: without topoguard NCCL would find them.
void restore(const Companions& companions, const UserEnvironment& inherited, const Sources& sources) {
  auto additions = companions.variables;
  if (!additions.empty() && inherited.ours.empty())
    additions[kApplied] = applied_value(host_identity(sources), companions.variables);
  publish_environment(additions, {});
}

void run(const Caller& caller, const SessionParts& parts, Session& session) {
  UserEnvironment inherited;
  const Sources sources = for_user(parts.sources, &inherited);
  CollectOptions options;
  options.front_end = caller.front_end;
  options.nccl_version = caller.nccl_version;
  if (!options.nccl_version && caller.nccl != nullptr && !caller.nccl->release.empty())
    options.nccl_version = caller.nccl->release;

  // Off is known before anything of the host is looked at.
  HostSnapshot settings;
  settings.nccl_version = options.nccl_version;
  host::read_environment(sources, sources.environment, options.nccl_version, settings);
  session.policy = policy_from(settings);
  journal::configure(session.policy.mode == Mode::off ? Policy{} : session.policy);
  if (session.policy.mode == Mode::off) {
    session.off = true;
    host::read_plugins(sources, sources.environment, std::string(), settings);
    session.host = std::move(settings);
    restore(base_companions(caller, session, sources), inherited, parts.sources);
    return;
  }

  session.host = parts.collect ? parts.collect(sources, options) : collect(sources, options);
  session.policy = policy_from(session.host);
  if (caller.front_end == FrontEnd::net)
    session.host.topoguard.bootstrap = bootstrap_of(caller, parts.sources, session.host);
  session.when = std::chrono::steady_clock::now();
  session.decision = parts.decide ? parts.decide(session.host, session.policy) : decide(session.host, session.policy);
  session.decided = true;
  const auto companions = base_companions(caller, session, sources);
  for (const std::string& kind : companions.lost)
    complain(session.voice(caller.logger), Severity::warning, "base-companion-lost",
             "NCCL alone would use the " + kind + " of " + expected_base(session.host, session.policy.base) +
                 ", and this release takes no path for it: it is not used. Remedy: another NCCL release (2.27.5 and "
                 "later), or leave NCCL_NET_PLUGIN unset");
  if (session.policy.mode != Mode::enforce) return restore(companions, inherited, parts.sources);
  for (const auto& variable : companions.variables) session.decision.env.insert(variable);
  // The env plugin answers NCCL itself (plugin/env): nothing is put into the environment there.
  session.published = caller.front_end == FrontEnd::env ? !session.decision.env.empty()
                                                        : steer(session.decision.env, inherited, parts.sources);
}

}  // namespace

HostSnapshot look_at_host(const Sources& sources, const CollectOptions& options) {
  return collect(for_user(sources, nullptr), options);
}

Session run_session(const Caller& caller, const SessionParts& parts) noexcept {
  Session session;
  std::string problem;
  try {
    run(caller, parts, session);
    return session;
  } catch (const std::bad_alloc&) {
    problem = "no memory";  // short enough to need none
  } catch (const std::exception& error) {
    problem = guarded(std::string(), [&] { return std::string(error.what()); });
  } catch (...) {
    problem = "unknown";
  }
  session.decided = false;
  const Voice voice = session.voice(caller.logger);
  guarded(false, [&] {
    complain(voice, Severity::warning, "internal-error",
             "topoguard failed while it looked at this host (" + problem +
                 ") and has changed nothing: NCCL goes on as without it. Remedy: send the output of `topoguard "
                 "snapshot` with a bug report; TOPOGUARD_MODE=off silences this");
    return true;
  });
  return session;
}

namespace {

// Where there is no memory for a session. Nothing was changed, and later calls change nothing: NCCL has read by then.
const Session& no_session() {
  alignas(Session) static unsigned char room[sizeof(Session)];
  static const Session* const none = new (room) Session;  // never destroyed
  return *none;
}

std::atomic<bool> given_up{false};

}  // namespace

const Session& enter(const Caller& caller) noexcept {
  const Session* const session = guarded(static_cast<const Session*>(nullptr), [&]() -> const Session* {
    if (given_up) return &no_session();
    auto& state = remembered();
    const std::lock_guard<std::mutex> lock(state.mutex);
    if (state.session != nullptr) return state.session;
    auto fresh = std::make_unique<Session>();  // first: what was decided must not be lost
    *fresh = run_session(caller, state.parts);
    return state.session = fresh.release();
  });
  if (session != nullptr) return *session;
  given_up = true;
  complain({caller.logger, false}, Severity::warning, "internal-error",
           "topoguard has no memory to look at this host and has changed nothing: NCCL goes on as without it");
  return no_session();
}

SessionParts session_parts() {
  auto& state = remembered();
  const std::lock_guard<std::mutex> lock(state.mutex);
  return state.parts;
}

void replace_session_parts(SessionParts parts) {
  auto& state = remembered();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.parts = std::move(parts);
  state.session = nullptr;
}

}  // namespace topoguard
