// SPDX-License-Identifier: Apache-2.0
#include "env_state.h"

#include <dlfcn.h>
#include <strings.h>

#include <atomic>
#include <cstdlib>

#include "core/announce.h"
#include "core/guard.h"
#include "host/environment.h"
#include "host/file.h"
#include "launch/companions.h"
#include "launch/plugin_name.h"
#include "steer/provenance.h"

namespace topoguard {
namespace {

// Never freed: NCCL keeps the strings.
std::atomic<const EnvAnswers*> answers{nullptr};

// Variables that an ancestor or another host's topoguard published, with the value that they still have.
std::map<std::string, std::string> stale_variables() {
  UserEnvironment inherited;
  const auto entries = host::environment_entries(Sources());
  user_entries(entries, &inherited);
  std::map<std::string, std::string> stale;
  for (const std::string& name : inherited.ours)
    if (const auto value = host::variable(entries, name)) stale[name] = *value;
  return stale;
}

std::optional<std::string> foreign_net_plugin(const HostSnapshot& host) {
  for (const Plugin& plugin : known(host.plugins))
    if (plugin.kind == "net" && host::base_name(plugin.path) == "libnccl-net.so") return plugin.path;
  return std::nullopt;
}

}  // namespace

bool default_name_is_ours() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&answer), &info) == 0 || info.dli_fname == nullptr) return false;
  const auto self = host::real_path(info.dli_fname);
  const std::string path = info.dli_fname;
  const auto beside = host::real_path(path.substr(0, path.rfind('/') + 1) + "libnccl-net.so");
  return self && self == beside;
}

bool net_plugin_speaks(const Session& session, bool ours_by_default) {
  const auto& env = session.host.env;
  const auto plugin = env.find("NCCL_NET_PLUGIN");
  const auto net = env.find("NCCL_NET");
  // From 2.28 on a plugin of another name than NCCL_NET is not called at all (plugin/net.cc).
  if (net != env.end() && strcasecmp(net->second.c_str(), "topoguard") != 0) return false;
  return plugin != env.end() ? names_topoguard(plugin->second) : ours_by_default;
}

EnvAnswers answers_for(const Session& session, const NcclRelease& release, bool ours_by_default) {
  PluginSituation situation;
  situation.release = release;
  situation.default_name_is_ours = ours_by_default;
  situation.foreign = foreign_net_plugin(session.host);
  if (const auto named = session.host.env.find("NCCL_NET_PLUGIN"); named != session.host.env.end())
    situation.net_plugin = named->second;
  std::map<std::string, std::string> ours = plugin_answers(situation);
  const bool in_slot = situation.net_plugin ? names_topoguard(*situation.net_plugin) : ours_by_default;
  if (in_slot)
    ours.merge(
        companions_of(expected_base(session.host, session.policy.base), release, session.host, Sources()).variables);
  if (!session.enforces()) return EnvAnswers(std::move(ours), {});
  for (const auto& [name, value] : session.decision.env) ours[name] = value;
  return EnvAnswers(std::move(ours), stale_variables());
}

void prepare_answers(std::uint8_t major, std::uint8_t minor, std::uint8_t patch) noexcept {
  guarded(false, [&] {
    if (answers.load(std::memory_order_acquire) != nullptr) return true;
    const NcclRelease release{major, minor, patch};
    Caller caller;
    caller.front_end = FrontEnd::env;
    caller.nccl_version = release.text();
    const Session& session = enter(caller);
    // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): guarded() handles it
    const EnvAnswers* fresh = new EnvAnswers(answers_for(session, release, default_name_is_ours()));
    const EnvAnswers* none = nullptr;
    if (!answers.compare_exchange_strong(none, fresh)) {
      delete fresh;
    } else if (!net_plugin_speaks(session, default_name_is_ours())) {
      announce(session, nullptr, Way::steering, "the env plugin alone", nullptr);  // warnings, on stderr
    }
    return true;
  });
}

const char* answer(const char* name) noexcept {
  if (name == nullptr) return nullptr;
  const char* const environment = std::getenv(name);  // the pointer itself, as NCCL's own getEnv has it
  const EnvAnswers* const known = answers.load(std::memory_order_acquire);
  return known != nullptr ? known->answer(name, environment) : environment;
}

}  // namespace topoguard
