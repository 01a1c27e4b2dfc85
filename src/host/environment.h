// SPDX-License-Identifier: Apache-2.0
// The environment, and the files that count as environment: nccl.conf for NCCL_*, topoguard.conf for TOPOGUARD_*.
//
// Kept: NCCL_*, TOPOGUARD_*, MASTER_ADDR, MASTER_PORT, LOCAL_RANK, CUDA_VISIBLE_DEVICES, GLOO_SOCKET_IFNAME, the
// launchers' names for the local rank, and the variables that bind threads. A value that is not UTF-8 is left out with
// a note. Under secure execution (getauxval AT_SECURE) TOPOGUARD_* are ignored. Names listed in TOPOGUARD_APPLIED
// ("BOOT:NETNS:NAME,NAME") are topoguard's own doing in this process or an ancestor, not the user's, and are left out.
//
// Order, as NCCL has it (src/misc/param.cc, initEnv): environment, then $NCCL_CONF_FILE (2.23 and later) or
// ~/.nccl.conf, then /etc/nccl.conf. TOPOGUARD_CONFIG, else /etc/topoguard.conf.
//
// Reading `environ` while another thread calls setenv is a race that no reader can win; the text is copied at once.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/sources.h"
#include "topoguard/snapshot.h"

namespace topoguard::host {

/// One look at the whole environment: "NAME=VALUE" each, in order. The only reader of environ; there is no getenv.
std::vector<std::string> environment_entries(const Sources& sources);
/// The first value of that name; nullopt where unset.
std::optional<std::string> variable(const std::vector<std::string>& entries, std::string_view name);

/// True in a set-uid, set-gid or capability-raised program. Never in a recorded environment.
bool secure_execution(const Sources& sources);

/// Fills out.env and out.topoguard.config. `nccl_version` ("2.28.9") decides whether NCCL_CONF_FILE is read; empty =
/// yes.
void read_environment(const Sources& sources, const std::vector<std::string>& entries,
                      const std::optional<std::string>& nccl_version, HostSnapshot& out);

struct Settings {
  std::map<std::string, std::string> values;
  int error = 0;  ///< errno of reading; ENOENT is no problem
};
/// NCCL's own format: NAME=VALUE per line, no trimming, '#' lines skipped (2.26; earlier ones set a harmless name),
/// name and value at most 1023 bytes. The first occurrence of a name wins (setenv without overwrite).
Settings read_nccl_conf(const std::string& path);
bool is_utf8(std::string_view text);

}  // namespace topoguard::host
