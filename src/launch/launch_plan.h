// SPDX-License-Identifier: Apache-2.0
// The environment that `topoguard exec` gives to a command. Pure: the decision in, variables out.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "steer/provenance.h"
#include "topoguard/decision.h"
#include "topoguard/policy.h"
#include "topoguard/snapshot.h"

namespace topoguard {

struct LaunchRequest {
  std::string library_folder;   ///< with a closing slash: libtopoguard.so and both plugins lie in it; "" = not found
  bool in_search_path = false;  ///< the dynamic linker finds the plugins by name already
  bool preload = false;         ///< --preload
  std::string ld_preload;       ///< the present LD_PRELOAD
  std::string identity;         ///< host_identity()
  std::vector<std::string> inherited;  ///< names that a topoguard published earlier: UserEnvironment::ours
};

struct LaunchPlan {
  std::map<std::string, std::string> set;
  std::set<std::string> unset;
};

/// Mode off: nothing. Observe: the plugins alone, so that they log. What the user set, in the environment or in
/// nccl.conf, is not in `set`.
LaunchPlan launch_plan(const HostSnapshot& host, const Policy& policy, const Decision& decision,
                       const LaunchRequest& request);

/// `library` before what LD_PRELOAD has already, once; but behind an AddressSanitizer runtime, which ends a process
/// where it does not come first.
std::string prepend_preload(const std::string& present, const std::string& library);

/// "NAME=VALUE" entries with the plan applied; order and everything else kept.
std::vector<std::string> apply_plan(const std::vector<std::string>& entries, const LaunchPlan& plan);

}  // namespace topoguard
