// SPDX-License-Identifier: Apache-2.0
#include "check/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "check/frame.h"
#include "check/trouble.h"
#include "compare/compare.h"
#include "decide/findings.h"
#include "host/file.h"

namespace topoguard::check {
namespace {

constexpr double kSkew = 1.0;  // seconds

struct Names {
  std::vector<std::string> hosts;
  std::string end(std::size_t host, const Offer& offer) const { return hosts[host] + " " + offer.text(); }
};

void add_missing(const Gathered& gathered, std::vector<Finding>& out) {
  if (gathered.missing_count == 0) return;
  std::string who;
  if (!gathered.missing.empty()) {
    std::vector<std::string> names;
    for (const int rank : gathered.missing) {
      const auto at = static_cast<std::size_t>(rank);
      names.push_back(fmt::format("rank {}", rank) +
                      (at < gathered.placement.hosts.size() ? " (" + gathered.placement.hosts[at] + ")" : ""));
    }
    who = listed(names);
  } else {
    who = fmt::format("{} of {} ranks", gathered.missing_count, gathered.placement.ranks);
  }
  std::string message = fmt::format("{} did not come to port {} of rank 0 within {:.1f} s", who,
                                    gathered.placement.port, gathered.waited);
  for (const TurnedAway& turned : gathered.turned_away)
    if (turned.why == TurnedAway::Why::other_job || turned.why == TurnedAway::Why::malformed) {
      message += fmt::format("; somebody at {} was turned away: {}", turned.from, turned.detail);
      break;
    }
  out.push_back(make_finding("rank-missing", "", message));
}

void add_turned_away(const Gathered& gathered, std::vector<Finding>& out) {
  std::set<std::string> told;
  for (const TurnedAway& turned : gathered.turned_away) {
    if (!told.insert(turned.from + turned.detail).second) continue;
    if (turned.why == TurnedAway::Why::other_version)
      out.push_back(
          make_finding("check-version-mismatch", "",
                       fmt::format("the topoguard at {} speaks version {} of the check's protocol, rank 0 ({}) "
                                   "version {}: it could not take part",
                                   turned.from, turned.detail, TOPOGUARD_VERSION, kProtocol)));
    else if (turned.why == TurnedAway::Why::conflict)
      out.push_back(make_finding("check-conflict", "",
                                 fmt::format("a process at {} was turned away: {}", turned.from, turned.detail)));
  }
}

void add_hosts(const Gathered& gathered, const Names& names, std::vector<Finding>& out) {
  for (std::size_t i = 0; i < gathered.hosts.size(); ++i) {
    const HostSeen& host = gathered.hosts[i];
    if (!host.reported)
      out.push_back(make_finding("rank-lost", names.hosts[i],
                                 fmt::format("rank {} came from {} and did not report: {}", host.hello.rank,
                                             host.from.empty() ? "this host" : host.from, host.lost)));
    if (host.hello.offers.empty())
      out.push_back(make_finding("nothing-to-reach", names.hosts[i],
                                 "no interface with an address that another host could connect to was chosen there"));
    for (const Offer& offer : host.hello.offers)
      if (offer.tcp_port == 0)
        out.push_back(make_finding("nothing-to-reach", names.hosts[i],
                                   offer.text() + ": no socket could be bound to that address"));
    if (!host.also.empty())
      out.push_back(make_finding(
          "ranks-share-host", names.hosts[i],
          fmt::format("rank {} and {} more run on this host; it was tried once", host.hello.rank, host.also.size())));
    if (!host.clock || std::fabs(host.clock->seconds) - host.clock->uncertainty <= kSkew) continue;
    out.push_back(
        make_finding("clock-skew", names.hosts[i],
                     fmt::format("its clock is {:.1f} s {} that of {} (rank 0), give or take {:.3g} ms",
                                 std::fabs(host.clock->seconds), host.clock->seconds > 0 ? "ahead of" : "behind",
                                 names.hosts[0], host.clock->uncertainty * 1e3)));
  }
}

void add_versions(const Gathered& gathered, const Names& names, std::vector<Finding>& out) {
  std::map<std::string, std::vector<std::string>> releases;
  for (std::size_t i = 0; i < gathered.hosts.size(); ++i)
    releases[gathered.hosts[i].hello.topoguard].push_back(names.hosts[i]);
  if (releases.size() < 2) return;
  std::string message = "releases of topoguard differ:";
  for (const auto& [release, hosts] : releases) message += " " + release + " on " + listed(hosts) + ";";
  message.pop_back();
  out.push_back(make_finding("topoguard-version-mismatch", "", message));
}

std::string_view code_of(Reach reach) {
  switch (reach) {
    case Reach::ok:
    case Reach::not_tried:
      return "";
    case Reach::refused:
      return "connect-refused";
    case Reach::silent:
      return "connect-silent";
    case Reach::unreachable:
      return "connect-unreachable";
    case Reach::stalled:
    case Reach::broken:
      return "connect-stalled";
    case Reach::other_family:
      return "family-mismatch";
  }
  return "";
}

// Connected, and larger packets vanish: the stall is what that does.
bool explained_by_mtu(const Probe& probe) {
  return probe.tcp == Reach::stalled && probe.mtu_state == MtuState::black_hole;
}

void add_troubles(const Probe& probe, Trouble base, std::vector<Trouble>& out) {
  const auto add = [&](std::string_view code, std::string cause, std::string detail = {}) {
    Trouble trouble = base;
    trouble.code = std::string(code);
    trouble.cause = std::move(cause);
    trouble.detail = std::move(detail);
    out.push_back(std::move(trouble));
  };
  if (const auto code = code_of(probe.tcp); !code.empty() && !explained_by_mtu(probe)) add(code, reach_text(probe));
  const auto sizes =
      fmt::format("packets over {} bytes do not get through, and the interfaces send {}", probe.mtu, probe.mtu_wanted);
  if (probe.mtu_state == MtuState::black_hole)
    add("path-mtu-black-hole", sizes + ": they vanish without a word",
        explained_by_mtu(probe) ? "A connection came up, and its data got stuck" : "");
  if (probe.mtu_state == MtuState::told)
    add("path-mtu-small", sizes + fmt::format(": {} says so", probe.told_by ? probe.told_by->text() : "a router"));
  if (probe.mtu_state == MtuState::unknown && probe.tcp == Reach::ok)
    add("path-mtu-unknown", "TCP connects, and no UDP packet is answered");
  if (probe.usual_source && probe.tcp != Reach::other_family)
    add("other-way-out", fmt::format("the kernel would send from {}", probe.usual_source->text()));
}

std::string message_of(const Folded& folded) {
  const Trouble& first = folded.first;
  std::string out;
  switch (folded.shape) {
    case Folded::Shape::one:
      out = first.from + " to " + first.to + ": " + first.cause;
      break;
    case Folded::Shape::both_ways:
      out = first.from + " to " + first.to + ", both ways: " + first.cause;
      break;
    case Folded::Shape::all_to:
      out = fmt::format("from {} addresses to {}: {}. They are {}", folded.others.size(), first.to, first.cause,
                        listed(folded.others));
      break;
    case Folded::Shape::all_from:
      out = fmt::format("from {} to {} addresses: {}. They are {}", first.from, folded.others.size(), first.cause,
                        listed(folded.others));
      break;
  }
  return first.detail.empty() ? out : out + ". " + first.detail;
}

// "node-b eth0" of "node-b eth0 10.0.0.2".
std::string device_of(const Folded& folded) {
  const std::string& end = folded.shape == Folded::Shape::all_to ? folded.first.to : folded.first.from;
  return end.substr(0, end.rfind(' '));
}

// Returns whether every connection that was tried came up.
bool add_connections(const Gathered& gathered, const Names& names, std::vector<Finding>& out) {
  std::vector<Trouble> troubles;
  bool all_up = true;
  for (std::size_t i = 0; i < gathered.hosts.size(); ++i)
    for (const Probe& probe : gathered.hosts[i].probes) {
      const std::size_t other = host_of(gathered, probe.partner);
      if (other == gathered.hosts.size()) continue;
      const Offer* from = offer_at(gathered.hosts[i].hello, probe.from);
      const Offer* to = offer_at(gathered.hosts[other].hello, probe.to);
      if (from == nullptr || to == nullptr) continue;
      all_up = all_up && probe.tcp == Reach::ok;
      Trouble base;
      base.from = names.end(i, *from);
      base.to = names.end(other, *to);
      base.rdma = from->use == Use::rdma;
      add_troubles(probe, std::move(base), troubles);
    }
  for (const Folded& folded : fold(std::move(troubles))) {
    Finding finding = make_finding(folded.first.code, device_of(folded), message_of(folded));
    // TCP learns the smaller size; RoCE has nobody to tell it.
    if (folded.first.rdma && finding.code == "path-mtu-small") finding.severity = Severity::error;
    out.push_back(std::move(finding));
  }
  return all_up;
}

void add_comparison(const Gathered& gathered, const Names& names, bool all_up, std::vector<Finding>& out) {
  Comparison comparison;
  for (std::size_t i = 0; i < gathered.hosts.size(); ++i) {
    HostDigest digest = gathered.hosts[i].hello.digest;
    digest.name = names.hosts[i];
    comparison.add(std::move(digest));
  }
  for (HostsFinding& found : comparison.finish().findings) {
    // Worked out from routing tables; that the connections came up is the better proof.
    if (all_up && found.finding.code == "subnet-mismatch") continue;
    out.push_back(std::move(found.finding));
  }
}

}  // namespace

std::string reach_text(const Probe& probe) {
  switch (probe.tcp) {
    case Reach::ok:
      return "ok";
    case Reach::refused:
      return "refused";
    case Reach::silent:
      return "no answer";
    case Reach::unreachable:
      return "no way (" + host::error_text(probe.error) + ")";
    case Reach::stalled:
      return "connected, and its data gets stuck";
    case Reach::broken:
      return "connected, and cut off again (" + host::error_text(probe.error) + ")";
    case Reach::other_family:
      return "one has an IPv4 address, the other an IPv6 address";
    case Reach::not_tried:
      return "not tried";
  }
  return "";
}

const Offer* offer_at(const Hello& hello, int position) {
  const auto at = static_cast<std::size_t>(position);
  return position >= 0 && at < hello.offers.size() ? &hello.offers[at] : nullptr;
}

std::size_t host_of(const Gathered& gathered, int rank) {
  const auto at = std::find_if(gathered.hosts.begin(), gathered.hosts.end(),
                               [&](const HostSeen& host) { return host.hello.rank == rank; });
  return static_cast<std::size_t>(at - gathered.hosts.begin());
}

std::vector<std::string> labels(const Gathered& gathered) {
  std::map<std::string, int> counts;
  for (const HostSeen& host : gathered.hosts) ++counts[host.hello.host];
  std::vector<std::string> out;
  for (const HostSeen& host : gathered.hosts)
    out.push_back(counts[host.hello.host] == 1 && !host.hello.host.empty()
                      ? host.hello.host
                      : fmt::format("{}#{}", host.hello.host.empty() ? "rank" : host.hello.host, host.hello.rank));
  return out;
}

std::vector<Finding> findings(const Gathered& gathered) {
  const Names names{labels(gathered)};
  std::vector<Finding> out;
  add_missing(gathered, out);
  add_turned_away(gathered, out);
  add_hosts(gathered, names, out);
  const bool all_up = add_connections(gathered, names, out);
  add_versions(gathered, names, out);
  add_comparison(gathered, names, all_up, out);
  std::stable_sort(out.begin(), out.end(), [](const Finding& a, const Finding& b) { return a.severity < b.severity; });
  return out;
}

}  // namespace topoguard::check
