// SPDX-License-Identifier: Apache-2.0
#include "policy/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "document/printable.h"
#include "policy/file_name.h"

namespace topoguard {
namespace {

bool same_word(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

template <typename T, std::size_t N>
std::string read_word(std::string_view value, T& out, const std::array<std::pair<std::string_view, T>, N>& words) {
  std::string expected;
  for (const auto& [word, meaning] : words) {
    if (same_word(value, word)) {
      out = meaning;
      return {};
    }
    expected += expected.empty() ? std::string(word) : " or " + std::string(word);
  }
  return "expected " + expected;
}

// Calls use(entry) for each; what it returns is the problem with that entry.
template <typename F>
std::string each_entry(std::string_view list, F use) {
  std::string problem;
  while (!list.empty()) {
    const std::size_t start = list.find_first_not_of(", \t");
    if (start == std::string_view::npos) break;
    const std::size_t end = std::min(list.find_first_of(", \t", start), list.size());
    const std::string_view entry = list.substr(start, end - start);
    if (const std::string wrong = use(entry); !wrong.empty())
      problem +=
          (problem.empty() ? "" : "; ") + std::string("entry \"") + printable(entry, 60) + "\" is left out: " + wrong;
    list.remove_prefix(end);
  }
  return problem;
}

// info_kind of rtnetlink, plus "loopback", which has none.
constexpr std::array<std::string_view, 25> kKinds = {
    "bareudp", "bond",   "bridge", "dummy",  "erspan", "geneve",   "gre",      "gretap",  "ifb",
    "ip6gre",  "ip6tnl", "ipip",   "ipvlan", "ipvtap", "loopback", "macvlan",  "macvtap", "sit",
    "team",    "tun",    "veth",   "vlan",   "vrf",    "vxlan",    "wireguard"};

std::string read_selector(std::string_view entry, std::vector<Selector>& out) {
  Selector selector;
  const auto is_kind = [](std::string_view word) {
    return std::find(kKinds.begin(), kKinds.end(), word) != kKinds.end();
  };
  if (entry.rfind("name:", 0) == 0) {
    selector.text = entry.substr(5);
  } else if (entry.rfind("kind:", 0) == 0) {
    selector.by = Selector::By::kind;
    selector.text = entry.substr(5);
    if (!is_kind(selector.text)) return "expected a link kind such as bridge, veth or vxlan after \"kind:\"";
  } else if (const auto prefix = Prefix::parse(entry)) {
    selector.by = Selector::By::prefix;
    selector.prefix = *prefix;
    selector.text = entry;
  } else if (entry.find('/') != std::string_view::npos) {
    return "expected a subnet such as 10.0.0.0/8";
  } else {
    selector.by = is_kind(entry) ? Selector::By::kind : Selector::By::name;
    selector.text = entry;
  }
  if (selector.text.empty()) return "expected a device name, a subnet or a link kind";
  if (selector.by == Selector::By::name && selector.text.find_first_of("^=*?") != std::string::npos)
    return "expected an exact device name, without ^, = or wildcards";
  out.push_back(std::move(selector));
  return {};
}

std::string read_mode(std::string_view value, Policy& policy) {
  static constexpr std::array<std::pair<std::string_view, Mode>, 3> words = {
      {{"enforce", Mode::enforce}, {"observe", Mode::observe}, {"off", Mode::off}}};
  return read_word(value, policy.mode, words);
}

std::string read_subnets(std::string_view value, Policy& policy) {
  return each_entry(value, [&](std::string_view entry) -> std::string {
    const auto prefix = Prefix::parse(entry);
    if (!prefix) return "expected a subnet such as 10.0.0.0/8";
    policy.subnets.push_back(prefix->network());
    return {};
  });
}

std::string read_exclude(std::string_view value, Policy& policy) {
  return each_entry(value, [&](std::string_view entry) { return read_selector(entry, policy.exclude); });
}

std::string read_include(std::string_view value, Policy& policy) {
  return each_entry(value, [&](std::string_view entry) { return read_selector(entry, policy.include); });
}

std::string read_require(std::string_view value, Policy& policy) {
  static constexpr std::array<std::pair<std::string_view, bool>, 2> words = {{{"IB", true}, {"none", false}}};
  return read_word(value, policy.require_ib, words);
}

std::string read_affinity(std::string_view value, Policy& policy) {
  static constexpr std::array<std::pair<std::string_view, AffinityMode>, 4> words = {
      {{"auto", AffinityMode::automatic},
       {"process", AffinityMode::process},
       {"thread", AffinityMode::thread},
       {"off", AffinityMode::off}}};
  return read_word(value, policy.affinity, words);
}

std::string read_membind(std::string_view value, Policy& policy) {
  static constexpr std::array<std::pair<std::string_view, bool>, 2> words = {{{"preferred", true}, {"off", false}}};
  return read_word(value, policy.membind_preferred, words);
}

std::string read_base(std::string_view value, Policy& policy) {
  policy.base = value;
  return {};
}

constexpr std::array<std::pair<std::string_view, LogLevel>, 4> kLogLevels = {
    {{"off", LogLevel::off}, {"summary", LogLevel::summary}, {"paths", LogLevel::paths}, {"debug", LogLevel::debug}}};
constexpr std::array<std::pair<std::string_view, Subject>, 7> kSubjects = {{{"interface", Subject::interface},
                                                                            {"hca", Subject::hca},
                                                                            {"gid", Subject::gid},
                                                                            {"steering", Subject::steering},
                                                                            {"affinity", Subject::affinity},
                                                                            {"connection", Subject::connection},
                                                                            {"memory", Subject::memory}}};

// "paths,gid": a level and subjects, in any order; subjects alone mean paths.
std::string read_log(std::string_view value, Policy& policy) {
  std::optional<LogLevel> level;
  std::set<Subject> subjects;
  const std::string wrong = each_entry(value, [&](std::string_view entry) -> std::string {
    LogLevel other{};
    Subject subject{};
    if (read_word(entry, subject, kSubjects).empty()) {
      subjects.insert(subject);
      return {};
    }
    const std::string levels = read_word(entry, other, kLogLevels);
    if (!levels.empty()) return levels + ", or a subject (interface, hca, gid, steering, affinity, connection, memory)";
    if (level && *level != other) return "one level is enough";
    level = other;
    return {};
  });
  if (!level && subjects.empty()) return wrong;
  policy.log = level.value_or(LogLevel::paths);
  policy.subjects = std::move(subjects);
  return wrong;
}

std::string read_name(std::string_view value, std::string& out) {
  std::string wrong = file_name_problem(value);
  if (wrong.empty()) out = value;
  return wrong;
}

std::string read_log_file(std::string_view value, Policy& policy) { return read_name(value, policy.log_file); }

std::string read_metrics(std::string_view value, Policy& policy) { return read_name(value, policy.metrics); }

constexpr int kLongestWait = 86400;  // a day, in seconds

std::string read_seconds(std::string_view value, int& out) {
  int seconds = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (error != std::errc() || end != value.data() + value.size() || seconds < 0 || seconds > kLongestWait)
    return "expected whole seconds from 0 (off) to " + std::to_string(kLongestWait);
  out = seconds;
  return {};
}

std::string read_connect_warn(std::string_view value, Policy& policy) {
  return read_seconds(value, policy.connect_warn_s);
}

std::string read_connect_timeout(std::string_view value, Policy& policy) {
  return read_seconds(value, policy.connect_timeout_s);
}

std::string read_stall_warn(std::string_view value, Policy& policy) { return read_seconds(value, policy.stall_warn_s); }

// Read where the file is opened (src/host), before there is a policy.
std::string read_config(std::string_view, Policy&) { return {}; }

constexpr std::array kSettings = {
    Setting{"TOPOGUARD_MODE", "enforce|observe|off", "enforce", "0.1",
            "enforce steers NCCL; observe decides and logs and changes nothing; off is as if topoguard were not there.",
            read_mode},
    Setting{"TOPOGUARD_SUBNETS", "SUBNET,...", "", "0.1",
            "Data belongs on addresses in these subnets, the first named first: 10.0.0.0/8,fd00::/8.", read_subnets},
    Setting{"TOPOGUARD_EXCLUDE", "NAME|SUBNET|KIND,...", "", "0.1",
            "Never chosen while anything else is left: exact device names, subnets, link kinds (bridge, veth, ...). "
            "name:X and "
            "kind:X say which is meant.",
            read_exclude},
    Setting{"TOPOGUARD_INCLUDE", "NAME|SUBNET|KIND,...", "", "0.1",
            "Only these are chosen, where any of them is usable. Written as TOPOGUARD_EXCLUDE.", read_include},
    Setting{"TOPOGUARD_REQUIRE", "none|IB", "none", "0.1",
            "IB: a connection over anything but RDMA fails with the reason, instead of going on slowly over TCP.",
            read_require},
    Setting{
        "TOPOGUARD_AFFINITY", "auto|process|thread|off", "auto", "0.1",
        "Binding to the CPUs near the GPU. auto binds only where nobody else has: no launcher mask, no OpenMP binding.",
        read_affinity},
    Setting{"TOPOGUARD_MEMBIND", "off|preferred", "off", "0.1", "preferred: memory from the GPU's NUMA node first.",
            read_membind},
    Setting{
        "TOPOGUARD_BASE", "auto|stock|NAME|PATH", "auto", "0.1",
        "The transport under topoguard: auto is what NCCL would use without topoguard; stock is NCCL's own; else a net "
        "plugin's name or path.",
        read_base},
    Setting{
        "TOPOGUARD_LOG", "off|summary|paths|debug,SUBJECT,...", "summary", "0.1",
        "summary: one block at the first communicator, and warnings. paths: every connection and what it goes over. "
        "debug: every rule that matched. off: silent. Subjects (interface, hca, gid, steering, affinity, connection, "
        "memory) keep what goes beyond the summary to these.",
        read_log},
    Setting{"TOPOGUARD_LOG_FILE", "PATH", "", "0.1",
            "What happens as JSON lines in this file, too. %h is the host's name, %p the process's number.",
            read_log_file},
    Setting{"TOPOGUARD_METRICS", "PATH", "", "0.1",
            "Counters as Prometheus text in this file (for node_exporter's textfile collector). %h and %p as above.",
            read_metrics},
    Setting{"TOPOGUARD_CONNECT_WARN_S", "SECONDS", "60", "0.1",
            "Explains connections that are not up after this time, and again after doubling times. 0: never.",
            read_connect_warn},
    Setting{"TOPOGUARD_CONNECT_TIMEOUT_S", "SECONDS", "0", "0.1",
            "Ends a connection that is not up after this time with an error, which fails its communicator. 0: never.",
            read_connect_timeout},
    Setting{"TOPOGUARD_STALL_WARN_S", "SECONDS", "0", "0.1",
            "Explains transfers that make no progress for this time. Costs a few instructions in each data call. 0: "
            "never, and the data path is NCCL's own functions.",
            read_stall_warn},
    Setting{"TOPOGUARD_CONFIG", "PATH", "/etc/topoguard.conf", "0.1",
            "File with the same settings, one NAME=VALUE a line. The environment wins.", read_config},
};

constexpr std::array kOtherNames = {
    OtherName{OtherName::Why::internal, "TOPOGUARD_APPLIED", "written by topoguard itself"},
    OtherName{OtherName::Why::internal, "TOPOGUARD_CASES", "where the tests find recorded hosts"},
    OtherName{OtherName::Why::internal, "TOPOGUARD_LIBNCCL", "the libnccl.so.2 that the tests run"},
    OtherName{OtherName::Why::internal, "TOPOGUARD_NO_TOOLKIT", "keeps the tests from a CUDA toolkit's libnccl"},
    OtherName{OtherName::Why::internal, "TOPOGUARD_CACHE", "where the tests keep what they download and make"},
    OtherName{OtherName::Why::internal, "TOPOGUARD_VM_TIMEOUT", "how long a test machine may take"},
    OtherName{OtherName::Why::internal, "TOPOGUARD_UPDATE", "has the tests rewrite their expected outputs"},
};

}  // namespace

std::span<const Setting> settings() { return kSettings; }
std::span<const OtherName> other_names() { return kOtherNames; }

}  // namespace topoguard
