// SPDX-License-Identifier: Apache-2.0
#include "compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "compare/digest.h"
#include "compare/network.h"
#include "decide/findings.h"

namespace topoguard {

namespace {

constexpr std::size_t kNamed = 8;  // hosts and values named one by one in a message; more are counted

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kNamed); ++i) text += (i > 0 ? ", " : "") + names[i];
  if (names.size() > kNamed) text += fmt::format(" and {} more", names.size() - kNamed);
  return text;
}

struct Remedy {
  std::string_view code, text;
};

constexpr Remedy kRemedies[] = {
    {"transport-mismatch",
     "Run `topoguard doctor` on the hosts named: it says what keeps them from the others' transport."},
    {"nccl-version-mismatch", "Install one NCCL release on all hosts, or use one container image."},
    {"hca-count-mismatch", "Run `topoguard doctor` on the hosts named: it says why an HCA is left out there."},
    {"link-layer-mismatch", "Bring the hosts named to the link layer of the others, or leave them out of the job."},
    {"gid-type-mismatch",
     "Give the RoCE interfaces of the hosts named the kind of address and GID that the others have."},
    {"speed-mismatch", "Check cables and switch ports of the hosts named, or leave them out of the job."},
    {"mtu-mismatch", "Set one MTU on all hosts and switch ports; the RoCE MTU follows the interface's."},
    {"subnet-mismatch", "Put the devices in common subnets, or add the missing routes on the hosts named."},
    {"rail-mismatch", "Cable or address the HCAs of the hosts named in the order of the others."},
    {"env-mismatch", "Set the variable on all hosts of the job, or on none."},
};

using Values = std::vector<std::optional<std::string>>;  // one per host; empty: takes no part

struct Split {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> groups;  ///< largest first
  bool majority = false;                                                 ///< the first is larger than the second
};

Split split(const Values& values) {
  std::map<std::string, std::vector<std::size_t>> by_value;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i]) by_value[*values[i]].push_back(i);
  Split result;
  result.groups.assign(by_value.begin(), by_value.end());
  std::stable_sort(result.groups.begin(), result.groups.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  result.majority = result.groups.size() > 1 && result.groups[0].second.size() > result.groups[1].second.size();
  return result;
}

class Reporter {
 public:
  Reporter(const std::vector<HostDigest>& digests, std::vector<HostsFinding>& findings)
      : digests_(digests), findings_(findings) {}

  /// One finding where the hosts' values differ: what most have, then who differs. `what` reads "{what}: {value} on
  /// ...".
  void differ(std::string_view code, const std::string& what, const Values& values, const std::string& consequence,
              std::optional<Severity> severity = std::nullopt) {
    const auto found = split(values);
    if (found.groups.size() < 2) return;
    std::string message = what + ": ";
    for (std::size_t i = 0; i < std::min(found.groups.size(), kNamed); ++i) {
      const auto& [value, hosts] = found.groups[i];
      if (i == 0 && found.majority)
        message += fmt::format("{} on most hosts ({} of {})", value, hosts.size(), total(values));
      else
        message += fmt::format("{}{} on {}", i > 0 ? "; " : "", value, join(names(hosts)));
    }
    if (found.groups.size() > kNamed) message += fmt::format("; {} further values", found.groups.size() - kNamed);
    message += ". " + consequence;
    std::set<std::size_t> odd;
    for (std::size_t i = found.majority ? 1 : 0; i < found.groups.size(); ++i)
      odd.insert(found.groups[i].second.begin(), found.groups[i].second.end());
    add(code, message, {odd.begin(), odd.end()}, severity);
  }

  void add(std::string_view code, std::string message, const std::vector<std::size_t>& hosts,
           std::optional<Severity> severity = std::nullopt) {
    const auto* remedy =
        std::find_if(std::begin(kRemedies), std::end(kRemedies), [&](const Remedy& row) { return row.code == code; });
    HostsFinding found{
        make_finding(code, "", std::move(message), remedy == std::end(kRemedies) ? "" : std::string(remedy->text)),
        names(hosts)};
    if (severity) found.finding.severity = *severity;
    findings_.push_back(std::move(found));
  }

 private:
  std::vector<std::string> names(const std::vector<std::size_t>& hosts) const {
    std::vector<std::string> found;
    for (const auto at : hosts) found.push_back(digests_[at].name);
    return found;
  }
  static std::size_t total(const Values& values) {
    return static_cast<std::size_t>(
        std::count_if(values.begin(), values.end(), [](const auto& v) { return v.has_value(); }));
  }

  const std::vector<HostDigest>& digests_;
  std::vector<HostsFinding>& findings_;
};

Values collect(const std::vector<HostDigest>& digests,
               const std::function<std::optional<std::string>(const HostDigest&)>& value) {
  Values values;
  for (const auto& digest : digests) values.push_back(value(digest));
  return values;
}

// NCCL_HOSTID names the host. The log's own variables change no traffic.
bool differs_by_nature(const std::string& name) { return name == "NCCL_HOSTID"; }
bool only_logs(const std::string& name) {
  return name.rfind("NCCL_DEBUG", 0) == 0 || name.find("_DUMP_FILE") != name.npos;
}

void compare_env(const std::vector<HostDigest>& digests, Reporter& report) {
  std::set<std::string> names;
  for (const auto& digest : digests)
    for (const auto& [name, value] : digest.env)
      if (!differs_by_nature(name)) names.insert(name);
  for (const auto& name : names)
    report.differ("env-mismatch", name,
                  collect(digests,
                          [&](const HostDigest& digest) -> std::optional<std::string> {
                            const auto found = digest.env.find(name);
                            return found == digest.env.end() ? "not set" : "\"" + found->second + "\"";
                          }),
                  "Every rank of a job needs the same NCCL_* variables.",
                  only_logs(name) ? std::optional(Severity::info) : std::nullopt);
}

void compare_rails(const std::vector<HostDigest>& digests, Reporter& report) {
  std::map<std::vector<std::string>, std::vector<std::size_t>> by_set;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    auto sorted = digests[i].rail_subnets;
    std::sort(sorted.begin(), sorted.end());
    if (sorted.size() > 1 && sorted.front() != sorted.back()) by_set[sorted].push_back(i);
  }
  for (const auto& [subnets, hosts] : by_set) {
    if (hosts.size() < 2) continue;
    Values orders(digests.size());
    for (const auto at : hosts) orders[at] = join(digests[at].rail_subnets);
    report.differ("rail-mismatch", "HCA subnets in NCCL's order", orders,
                  "NCCL pairs HCAs by their number: with another order, traffic crosses rails, or finds no way.");
  }
}

void compare_network(const std::vector<HostDigest>& digests, Reporter& report) {
  const auto interfaces =
      apart(digests, [](const HostDigest& d) -> const std::vector<Endpoint>& { return d.interfaces; });
  if (!interfaces.hosts.empty())
    report.add("subnet-mismatch",
               "The chosen interfaces have no subnet in common and no route to each other, for one: " +
                   interfaces.example + ".",
               interfaces.hosts);
  static const std::vector<Endpoint> none;
  const auto rails = apart(
      digests, [](const HostDigest& d) -> const std::vector<Endpoint>& { return d.subnet_aware ? none : d.rails; });
  if (!rails.hosts.empty())
    report.add("subnet-mismatch",
               "The netdevs of the chosen RoCE ports have no subnet in common and no route to each other "
               "from those ports, for one: " +
                   rails.example + ".",
               rails.hosts);
}

void compare_all(const std::vector<HostDigest>& digests, std::vector<HostsFinding>& findings) {
  Reporter report(digests, findings);
  const auto ib = [](const HostDigest& digest) { return digest.transport == Transport::ib; };
  report.differ(
      "transport-mismatch", "Transport",
      collect(digests,
              [](const HostDigest& digest) { return std::optional(std::string(transport_name(digest.transport))); }),
      "Each side waits for the other's kind of connection: the job hangs.");
  report.differ("nccl-version-mismatch", "NCCL", collect(digests, [](const HostDigest& d) { return d.nccl_version; }),
                "Ranks of one job must run one release.");
  report.differ("hca-count-mismatch", "Chosen HCAs",
                collect(digests,
                        [&](const HostDigest& digest) {
                          return ib(digest) ? std::optional(std::to_string(digest.hca_count)) : std::nullopt;
                        }),
                "Ranks then count different channels, and the first collective can hang.");
  report.differ("link-layer-mismatch", "Link layer",
                collect(digests, [](const HostDigest& d) { return d.link_layers; }),
                "InfiniBand and Ethernet ports cannot talk to each other.");
  report.differ("gid-type-mismatch", "GIDs", collect(digests, [](const HostDigest& d) { return d.gid_types; }),
                "Two ends with different GID types never connect.");
  for (const bool of_hcas : {true, false}) {
    const auto only = [&](const std::function<std::optional<std::string>(const HostDigest&)>& value) {
      return collect(digests,
                     [&](const HostDigest& digest) { return ib(digest) == of_hcas ? value(digest) : std::nullopt; });
    };
    report.differ("speed-mismatch", of_hcas ? "HCA speed" : "Interface speed",
                  only([](const HostDigest& d) { return d.speeds; }), "The whole job runs at the slowest.");
    report.differ("mtu-mismatch", of_hcas ? "Active MTU of the HCAs" : "Interface MTU",
                  only([](const HostDigest& d) { return d.mtus; }),
                  "Packets larger than the smaller MTU are lost on the way: length or retry errors, or a hang.");
  }
  report.differ("mtu-mismatch", "MTU of the HCAs' netdevs",
                collect(digests, [](const HostDigest& d) { return d.netdev_mtus; }), "The RoCE MTU follows it.");
  compare_network(digests, report);
  compare_rails(digests, report);
  compare_env(digests, report);
  std::stable_sort(findings.begin(), findings.end(), [](const HostsFinding& a, const HostsFinding& b) {
    return a.finding.severity < b.finding.severity;
  });
}

}  // namespace

struct Comparison::State {
  bool keep_own = false;
  std::vector<HostDigest> digests;
  std::vector<HostsFinding> own;
  std::set<std::string> names;
};

Comparison::Comparison(bool keep_own_findings) : state_(std::make_unique<State>()) {
  state_->keep_own = keep_own_findings;
}
Comparison::~Comparison() = default;

void Comparison::add(std::string name, const HostSnapshot& host, const Decision& decision) {
  std::string unique = name;
  for (int i = 2; !state_->names.insert(unique).second; ++i) unique = fmt::format("{}#{}", name, i);
  state_->digests.push_back(digest(unique, host, decision));
  if (state_->keep_own)
    for (const auto& finding : decision.findings) state_->own.push_back({finding, {unique}});
}

void Comparison::add(HostDigest digest) {
  const std::string name = digest.name;
  for (int i = 2; !state_->names.insert(digest.name).second; ++i) digest.name = fmt::format("{}#{}", name, i);
  state_->digests.push_back(std::move(digest));
}

CompareResult Comparison::finish() {
  CompareResult result;
  for (const auto& digest : state_->digests) result.hosts.push_back(digest.name);
  compare_all(state_->digests, result.findings);
  result.own = std::move(state_->own);
  return result;
}

std::string host_name(const HostSnapshot& host, const std::string& file) {
  if (host.system.hostname && !host.system.hostname->empty()) return *host.system.hostname;
  auto name = file.substr(file.find_last_of('/') + 1);
  if (name.size() > 5 && name.substr(name.size() - 5) == ".json") name.resize(name.size() - 5);
  return name;
}

}  // namespace topoguard
