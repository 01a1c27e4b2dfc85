// SPDX-License-Identifier: Apache-2.0
#include "launch/launch_plan.h"

#include <algorithm>

namespace topoguard {
namespace {

bool user_set(const HostSnapshot& host, const std::string& name) { return host.env.count(name) != 0; }

void name_plugins(const HostSnapshot& host, const LaunchRequest& request, LaunchPlan& plan) {
  if (request.library_folder.empty()) return;
  // A name works with every release, a path also where the folder is unknown to the linker.
  for (const char* kind : {"net", "env"}) {
    const std::string variable = std::string("NCCL_") + (kind[0] == 'n' ? "NET" : "ENV") + "_PLUGIN";
    if (user_set(host, variable)) continue;
    plan.set[variable] =
        request.in_search_path ? "topoguard" : request.library_folder + "libnccl-" + kind + "-topoguard.so";
  }
}

}  // namespace

LaunchPlan launch_plan(const HostSnapshot& host, const Policy& policy, const Decision& decision,
                       const LaunchRequest& request) {
  LaunchPlan plan;
  if (policy.mode == Mode::off) return plan;
  name_plugins(host, request, plan);
  if (request.preload && !request.library_folder.empty())
    plan.set["LD_PRELOAD"] = prepend_preload(request.ld_preload, request.library_folder + "libtopoguard.so");
  if (policy.mode == Mode::observe) return plan;

  for (const auto& [name, value] : decision.env) plan.set[name] = value;
  // What an ancestor published for itself, perhaps on another host, is out of date.
  for (const std::string& name : request.inherited)
    if (!decision.env.count(name)) plan.unset.insert(name);
  if (!decision.env.empty())
    plan.set[kApplied] = applied_value(request.identity, decision.env);
  else if (!request.inherited.empty())
    plan.unset.insert(kApplied);
  return plan;
}

std::string prepend_preload(const std::string& present, const std::string& library) {
  // ld.so(8): the list is separated by colons or blanks.
  std::string sanitizers, others;
  std::size_t at = 0;
  while (at < present.size()) {
    const std::size_t end = std::min(present.find_first_of(": ", at), present.size());
    const std::string entry = present.substr(at, end - at);
    at = end + 1;
    if (entry.empty() || entry == library) continue;
    const bool sanitizer =
        entry.find("libasan.so") != std::string::npos || entry.find("libclang_rt.asan") != std::string::npos;
    std::string& list = sanitizer && others.empty() ? sanitizers : others;
    list += (list.empty() ? "" : ":") + entry;
  }
  return (sanitizers.empty() ? "" : sanitizers + ":") + library + (others.empty() ? "" : ":" + others);
}

std::vector<std::string> apply_plan(const std::vector<std::string>& entries, const LaunchPlan& plan) {
  std::vector<std::string> result;
  for (const std::string& entry : entries) {
    const std::string name = entry.substr(0, entry.find('='));
    if (!plan.set.count(name) && !plan.unset.count(name)) result.push_back(entry);
  }
  for (const auto& [name, value] : plan.set) result.push_back(name + "=" + value);
  return result;
}

}  // namespace topoguard
