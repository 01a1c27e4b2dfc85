// SPDX-License-Identifier: Apache-2.0
// What the operator wants: the parsed TOPOGUARD_* settings. The table of all settings is src/policy/settings.cc.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "topoguard/address.h"
#include "topoguard/decision.h"

namespace topoguard {

enum class Mode : std::uint8_t { enforce, observe, off };
enum class AffinityMode : std::uint8_t { automatic, process, thread, off };
enum class SettingSource : std::uint8_t { built_in, file, environment };

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
  bool membind_preferred = false;  ///< TOPOGUARD_MEMBIND=preferred
  std::string base = "auto";       ///< TOPOGUARD_BASE: auto, stock, a plugin name or a path
  bool log = true;                 ///< TOPOGUARD_LOG=off silences
  std::string log_level = "summary";
  std::map<std::string, SettingSource> sources;  ///< where each setting that is not built in came from
  std::vector<Finding> problems;                 ///< misspelt names, values that cannot be read: each warned of once
};

}  // namespace topoguard
