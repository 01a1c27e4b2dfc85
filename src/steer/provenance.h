// SPDX-License-Identifier: Apache-2.0
// Whose variable is it? What topoguard publishes is inherited by children, exported by launchers to other hosts and
// baked into images. TOPOGUARD_APPLIED says which variables are ours, so that they are computed anew everywhere and
// never taken for the user's:
//
//   TOPOGUARD_APPLIED=<boot id>+<network namespace>+<digest>.<digest>:<NAME>,<NAME>
//
// A listed variable counts as ours on every host; where digests are there, only while its value is still the one that
// was published: a script that sets it afterwards speaks for the user.
//
// Thread-safety: pure functions, but host_identity(), which reads /proc.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/sources.h"

namespace topoguard {

inline constexpr const char* kApplied = "TOPOGUARD_APPLIED";

/// "<boot id>+<inode of the network namespace>": one kernel, one namespace. Unreadable parts are "unknown".
std::string host_identity(const Sources& sources);

struct UserEnvironment {
  std::map<std::string, std::string> variables;  ///< what the user set; TOPOGUARD_APPLIED is not in it
  std::vector<std::string> ours;                 ///< names that topoguard published earlier, sorted
  std::string published_on;                      ///< identity of that host; "" where nothing was inherited
};

/// Splits an environment. Names occur once in it, as in every environment that a shell or setenv(3) made.
UserEnvironment user_environment(std::map<std::string, std::string> all);

/// The same for "NAME=VALUE" entries, whose order is kept; entries without '=' stay. `result` receives the split, may
/// be null.
std::vector<std::string> user_entries(const std::vector<std::string>& entries, UserEnvironment* result = nullptr);

/// The value for TOPOGUARD_APPLIED. `identity` is host_identity()'s.
std::string applied_value(std::string_view identity, const std::map<std::string, std::string>& published);

}  // namespace topoguard
