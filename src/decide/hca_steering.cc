// SPDX-License-Identifier: Apache-2.0
#include "decide/hca_steering.h"

#include <algorithm>
#include <set>

namespace topoguard {

namespace {

using Env = std::map<std::string, std::string>;
using Ports = std::vector<const PortState*>;

constexpr const char* kIndex = "NCCL_IB_GID_INDEX";
constexpr const char* kFamily = "NCCL_IB_ADDR_FAMILY";
constexpr const char* kRange = "NCCL_IB_ADDR_RANGE";
constexpr const char* kVersion = "NCCL_IB_ROCE_VERSION_NUM";

GidFit fit_of(const PortState& state, const GidPick& pick) {
  if (!state.ethernet() || !state.port->gids) return GidFit::right;
  const auto* best = state.gids.best();
  if (pick.fails || !pick.index) return GidFit::wrong;
  const auto* got = state.gids.at(*pick.index);
  if (got == nullptr) return GidFit::wrong;
  if (best == nullptr || got == best) return GidFit::right;
  // One address is often in the table twice with the same type; either entry is the right one.
  if (got->entry->gid == best->entry->gid && got->entry->type == best->entry->type && !got->rank.shadow)
    return GidFit::right;
  return got->rank.as_good_as(best->rank) && !got->rank.shadow ? GidFit::as_good : GidFit::inferior;
}

struct Score {
  int working = 0;  // right or as good
  int right = 0;
  int usable = 0;
  bool operator<(const Score& other) const {
    return std::tie(working, right, usable) < std::tie(other.working, other.right, other.usable);
  }
};

class Replay {
 public:
  Replay(const NcclRelease& release, const UserSettings& user, const Ports& ports)
      : release_(release), user_(user), ports_(ports) {}

  std::vector<SteeredPort> run(const Env& env) const {
    const auto settings = GidSettings::read(release_, [&](std::string_view name) -> const std::string* {
      if (const auto* set = user_.find(name)) return set;
      const auto found = env.find(std::string(name));
      return found == env.end() ? nullptr : &found->second;
    });
    std::vector<SteeredPort> result;
    for (const auto* port : ports_) {
      SteeredPort steered;
      steered.pick = nccl_gid(release_, port->layer, known(port->port->gids), settings);
      steered.fit = fit_of(*port, steered.pick);
      result.push_back(steered);
    }
    return result;
  }

 private:
  const NcclRelease& release_;
  const UserSettings& user_;
  const Ports& ports_;
};

Score score(const std::vector<SteeredPort>& ports) {
  Score sum;
  for (const auto& port : ports) {
    sum.working += port.fit <= GidFit::as_good ? 1 : 0;
    sum.right += port.fit == GidFit::right ? 1 : 0;
    sum.usable += port.fit != GidFit::wrong ? 1 : 0;
  }
  return sum;
}

// The longest prefix that holds all of them; they are of one family.
Prefix cover(const std::vector<IpAddress>& addresses) {
  Prefix prefix{addresses.front(), addresses.front().bits()};
  for (const auto& address : addresses)
    while (prefix.length > 0 && !prefix.contains(address)) --prefix.length;
  return prefix.network();
}

// A range must hold every right address, so the common prefix is the narrowest that can work for all; the subnets
// stand for the largest group that one of them suits. A subnet that all share is shown rather than an odd prefix.
std::vector<std::string> ranges(const Ports& ports, const std::vector<std::optional<Prefix>>& subnets, Family family) {
  std::vector<IpAddress> addresses;
  std::set<Prefix> nets;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const auto* best = ports[i]->gids.best();
    if (best == nullptr || best->entry->gid.address().family != family) continue;
    addresses.push_back(best->entry->gid.address());
    if (subnets[i]) nets.insert(*subnets[i]);
  }
  std::vector<std::string> texts;
  if (addresses.empty()) return texts;
  if (nets.size() == 1) texts.push_back(nets.begin()->text());
  if (const auto all = cover(addresses); all.length > 0) texts.push_back(all.text());
  constexpr std::size_t kMany = 16;  // each is one more replay of every port
  for (const auto& net : nets)
    if (nets.size() > 1 && nets.size() <= kMany) texts.push_back(net.text());
  return texts;
}

// What the user said of the GID by other means than its index.
bool guides_search(const UserSettings& user) {
  return user.is_set(kFamily) || user.is_set(kRange) || user.is_set(kVersion);
}

// Every set of variables worth trying, in the order of preference: nothing, a family, a range, a version, pairs, and
// an index only at the end or where the release knows nothing else. An index would overrule what guides the search.
std::vector<Env> candidates(const NcclRelease& release, const UserSettings& user, const Ports& ports,
                            const std::vector<std::optional<Prefix>>& subnets) {
  std::vector<Env> tries{{}};
  const auto free = [&](const char* name) { return !user.is_set(name); };
  const bool pinned = user.number(kIndex).value_or(-1) >= 0;
  if (release.searches_gid() && !pinned) {
    std::vector<Env> families, versions{{}};
    const auto* set_family = user.find(kFamily);
    const bool user_v6 = set_family != nullptr && *set_family == "AF_INET6";
    families.emplace_back();
    if (free(kFamily)) families.push_back({{kFamily, "AF_INET6"}});
    if (free(kVersion)) versions.push_back({{kVersion, "1"}});
    std::vector<std::pair<int, Env>> all;
    for (const auto& family : families) {
      std::vector<Env> spans{{}};
      if (free(kRange))
        for (auto& text : ranges(ports, subnets, user_v6 || !family.empty() ? Family::inet6 : Family::inet))
          spans.push_back({{kRange, std::move(text)}});
      for (const auto& version : versions)
        for (const auto& span : spans) {
          Env env = family;
          env.insert(version.begin(), version.end());
          env.insert(span.begin(), span.end());
          all.emplace_back(static_cast<int>(env.size()), std::move(env));
        }
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [size, env] : all)
      if (size > 0) tries.push_back(std::move(env));
  }
  if (free(kIndex) && !(release.searches_gid() && guides_search(user))) {
    std::set<int> indexes;
    for (const auto* port : ports)
      for (const auto& gid : port->gids.usable) indexes.insert(gid.entry->index);
    for (const int index : indexes) tries.push_back({{kIndex, std::to_string(index)}});
  }
  return tries;
}

}  // namespace

GidSteering steer_gids(const NcclRelease& release, const UserSettings& user, const Ports& ports,
                       const std::vector<std::optional<Prefix>>& subnets) {
  const Replay replay(release, user, ports);
  GidSteering best;
  Score best_score;
  for (auto& env : candidates(release, user, ports, subnets)) {
    // A release that searches gets an index only where nothing else brings every port to a GID that works.
    if (release.searches_gid() && env.count(kIndex) > 0 && best_score.working == static_cast<int>(ports.size())) break;
    auto result = replay.run(env);
    const auto reached = score(result);
    const bool first = best.ports.empty();
    if (first || best_score < reached) {
      best.env = std::move(env);
      best.ports = std::move(result);
      best_score = reached;
    }
    if (best_score.right == static_cast<int>(ports.size())) break;
  }
  const bool users = user.is_set(kIndex) || guides_search(user) || user.is_set("NCCL_IB_HCA");
  if (best_score.working > 0 && !users)
    for (auto& port : best.ports) port.kept = port.fit <= GidFit::as_good;
  return best;
}

}  // namespace topoguard
