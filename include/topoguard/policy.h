// SPDX-License-Identifier: Apache-2.0
// What the operator wants: the parsed TOPOGUARD_* settings. The table of all settings is src/policy/settings.cc.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "topoguard/address.h"
#include "topoguard/decision.h"

namespace topoguard {

enum class Mode : std::uint8_t { enforce, observe, off };
enum class AffinityMode : std::uint8_t { automatic, process, thread, off };
enum class SettingSource : std::uint8_t { built_in, file, environment };
enum class LogLevel : std::uint8_t { off, summary, paths, debug };
/// What a log line beyond the summary is about.
enum class Subject : std::uint8_t { interface, hca, gid, steering, affinity, connection, memory };

/// One entry of TOPOGUARD_EXCLUDE or TOPOGUARD_INCLUDE: an exact device name, a CIDR, or a link kind.
struct Selector {
  enum class By : std::uint8_t { name, prefix, kind } by = By::name;
  std::string text;
  Prefix prefix;  ///< where by == prefix
};

struct Policy {
  Mode mode = Mode::enforce;
  std::vector<Prefix> subnets;    ///< TOPOGUARD_SUBNETS: data belongs on addresses in these, first listed first
  std::vector<Selector> exclude;  ///< never chosen while anything else is left
  std::vector<Selector> include;  ///< only these, where any is usable
  bool require_ib = false;        ///< TOPOGUARD_REQUIRE=IB
  AffinityMode affinity = AffinityMode::automatic;
  bool membind_preferred = false;                ///< TOPOGUARD_MEMBIND=preferred
  std::string base = "auto";                     ///< TOPOGUARD_BASE: auto, stock, a plugin name or a path
  LogLevel log = LogLevel::summary;              ///< TOPOGUARD_LOG; off silences
  std::set<Subject> subjects;                    ///< of TOPOGUARD_LOG: only these go beyond the summary; empty = all
  std::string log_file;                          ///< TOPOGUARD_LOG_FILE with its %h and %p; empty = none
  std::string metrics;                           ///< TOPOGUARD_METRICS, likewise
  int connect_warn_s = 60;                       ///< TOPOGUARD_CONNECT_WARN_S: 0 = no warning
  int connect_timeout_s = 0;                     ///< TOPOGUARD_CONNECT_TIMEOUT_S: 0 = never
  int stall_warn_s = 0;                          ///< TOPOGUARD_STALL_WARN_S: 0 = off, and the data path is NCCL's own
  std::map<std::string, SettingSource> sources;  ///< where each setting that is not built in came from
  std::vector<Finding> problems;                 ///< misspelt names, values that cannot be read: each warned of once

  /// A line about `subject` that belongs to `level` is written.
  bool shows(LogLevel level, Subject subject) const {
    return log >= level && (level <= LogLevel::summary || subjects.empty() || subjects.count(subject) > 0);
  }
};

}  // namespace topoguard
