// SPDX-License-Identifier: Apache-2.0
#include "compare/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace topoguard {

namespace {

// Prefixes that reach the same addresses. What is known of routes is part of it: unknown ones reach everything.
struct Reach {
  bool routes_known;
  Family family;
  std::vector<Prefix> reach, lost;
  auto operator<=>(const Reach&) const = default;

  bool has(const IpAddress& address) const {
    if (address.family != family) return false;
    if (!routes_known) return true;
    // Sorted and none inside another: only the last one that starts at or before the address can hold it.
    const auto in = [&](const std::vector<Prefix>& list) {
      const auto after = std::upper_bound(list.begin(), list.end(), address,
                                          [](const IpAddress& a, const Prefix& prefix) { return a < prefix.address; });
      return after != list.begin() && std::prev(after)->contains(address);
    };
    return in(reach) && !in(lost);
  }
};

/// A device as far as reaching goes: which class it is of, and which classes reach it.
struct Port {
  int reach_class = 0;
  std::vector<int> reached_by;  ///< sorted
  auto operator<=>(const Port&) const = default;

  bool reached_from(int other) const { return std::binary_search(reached_by.begin(), reached_by.end(), other); }
};

bool partners(const Port& a, const Port& b) { return a.reached_from(b.reach_class) && b.reached_from(a.reach_class); }

bool fit(const std::vector<Port>& a, const std::vector<Port>& b) {
  const auto& fewer = a.size() <= b.size() ? a : b;
  const auto& more = a.size() <= b.size() ? b : a;
  const auto all_served = [](const std::vector<Port>& from, const std::vector<Port>& to) {
    return std::all_of(from.begin(), from.end(), [&](const Port& mine) {
      return std::any_of(to.begin(), to.end(), [&](const Port& theirs) { return partners(mine, theirs); });
    });
  };
  return all_served(fewer, more) && (a.size() != b.size() || all_served(more, fewer));
}

struct Group {
  std::vector<std::size_t> hosts;
  std::vector<Port> ports;
};

std::vector<Group> group(const std::vector<HostDigest>& digests,
                         const std::function<const std::vector<Endpoint>&(const HostDigest&)>& endpoints) {
  std::map<Reach, int> classes;
  std::vector<const Reach*> list;
  std::vector<std::vector<Port>> ports(digests.size());
  for (std::size_t i = 0; i < digests.size(); ++i)
    for (const auto& end : endpoints(digests[i])) {
      const auto [at, is_new] = classes.emplace(Reach{end.routes_known, end.address.family, end.reach, end.lost},
                                                static_cast<int>(classes.size()));
      if (is_new) list.push_back(&at->first);
      ports[i].push_back({at->second, {}});
    }
  std::map<std::vector<Port>, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    const auto& ends = endpoints(digests[i]);
    if (ends.empty()) continue;
    for (std::size_t k = 0; k < ends.size(); ++k)
      for (std::size_t c = 0; c < list.size(); ++c)
        if (list[c]->has(ends[k].address)) ports[i][k].reached_by.push_back(static_cast<int>(c));
    auto sorted = ports[i];
    std::sort(sorted.begin(), sorted.end());
    groups[std::move(sorted)].push_back(i);
  }
  std::vector<Group> found;
  for (const auto& [key, hosts] : groups) found.push_back({hosts, key});
  std::stable_sort(found.begin(), found.end(),
                   [](const Group& a, const Group& b) { return a.hosts.size() > b.hosts.size(); });
  return found;
}

std::string text(const HostDigest& digest, const std::vector<Endpoint>& ends) {
  std::string list;
  for (const auto& end : ends)
    list += fmt::format("{}{}/{}", list.empty() ? "" : " ", end.address.text(), end.subnet.length);
  return digest.name + " (" + list + ")";
}

}  // namespace

Unreachable apart(const std::vector<HostDigest>& digests,
                  const std::function<const std::vector<Endpoint>&(const HostDigest&)>& endpoints) {
  const auto groups = group(digests, endpoints);
  Unreachable result;
  if (groups.empty()) return result;
  // The group that fits the most hosts, itself included, is the job; whoever does not fit it stands apart. Comparing
  // every group with every other is only needed to find it where no group is the larger.
  const auto fitting = [&](const Group& one) {
    std::size_t count = 0;
    for (const auto& other : groups) {
      if (&other == &one)
        count += fit(one.ports, one.ports) ? one.hosts.size() : 1;
      else if (fit(one.ports, other.ports))
        count += other.hosts.size();
    }
    return count;
  };
  const Group* centre = nullptr;
  std::size_t most = 0;
  std::size_t total = 0;
  for (const auto& one : groups) total += one.hosts.size();
  for (const auto& one : groups) {
    const auto count = fitting(one);
    if (count > most) {
      most = count;
      centre = &one;
    }
    if (most == total || most * 2 > total) break;
  }
  std::set<std::size_t> odd;
  bool some_tie = most * 2 <= total;
  const auto example = [&](std::size_t a, std::size_t b) {
    if (result.example.empty())
      result.example = text(digests[a], endpoints(digests[a])) + " and " + text(digests[b], endpoints(digests[b]));
  };
  for (const auto& other : groups) {
    const bool alone = &other == centre && !fit(other.ports, other.ports) && other.hosts.size() > 1;
    if (&other != centre && fit(centre->ports, other.ports)) continue;
    if (&other == centre && !alone) continue;
    odd.insert(other.hosts.begin(), other.hosts.end());
    example(centre->hosts.front(), alone ? other.hosts.back() : other.hosts.front());
  }
  if (!odd.empty() && some_tie) odd.insert(centre->hosts.begin(), centre->hosts.end());
  // Groups that all fit the centre may still not fit each other: the centre is then a host with a leg in each.
  if (odd.empty())
    for (std::size_t i = 0; i < groups.size(); ++i)
      for (std::size_t k = i; k < groups.size(); ++k) {
        if (i == k ? groups[i].hosts.size() < 2 : false) continue;
        if (fit(groups[i].ports, groups[k].ports)) continue;
        odd.insert(groups[k].hosts.begin(), groups[k].hosts.end());
        if (groups[i].hosts.size() == groups[k].hosts.size())
          odd.insert(groups[i].hosts.begin(), groups[i].hosts.end());
        example(groups[i].hosts.front(), groups[k].hosts.back());
      }
  result.hosts.assign(odd.begin(), odd.end());
  return result;
}

}  // namespace topoguard
