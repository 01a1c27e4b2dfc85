// SPDX-License-Identifier: Apache-2.0
// The settings file that TOPOGUARD_CONFIG names: lines KEY=VALUE, blank lines, # comments.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace topoguard {

/// Where TOPOGUARD_CONFIG is not set. A missing file there is normal.
inline constexpr std::string_view kConfigPath = "/etc/topoguard.conf";

/// Every problem begins with this, so that policy_from knows it again among HostSnapshot::notes.
inline constexpr std::string_view kConfigNote = "settings file: ";

struct ConfigFile {
  std::map<std::string, std::string> values;  ///< for HostSnapshot::topoguard.config
  std::vector<std::string> problems;  ///< one printable line each, naming file and line: for HostSnapshot::notes
};

/// KEY is a TOPOGUARD_* name; blanks around KEY and VALUE do not count; VALUE may stand in '...' or "..."; a # after a
/// blank begins a comment outside quotes. A line that cannot be read gives a problem and the others count. At most 20
/// problems.
ConfigFile parse_config(std::string_view text, std::string_view file_name);

/// Reads at most 64 KiB of a regular file. required: the user named it, so that a missing file is a problem. Never
/// throws but for lack of memory, never blocks on a FIFO or device.
ConfigFile read_config_file(const std::string& path, bool required);

}  // namespace topoguard
