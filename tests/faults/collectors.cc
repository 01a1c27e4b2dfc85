// SPDX-License-Identifier: Apache-2.0
// collect() and decide() over a /sys made by hand, for scene "rdma": a library whose name counts as topoguard's own
// (inject.c), because the net plugin takes the live /sys only.
#include <new>

#include "decide/decide.h"
#include "decide/drift.h"
#include "host/collect.h"
#include "policy/policy_from.h"

using namespace topoguard;

// Returns how many ports are chosen with a GID, -1 where memory ran out outside collect(), which its callers
// catch (core/guard.h). Where collect() throws, or anything else is thrown, the process ends.
extern "C" [[gnu::visibility("default")]] int faults_collect(const char* root) try {
  const std::string at = root;
  Sources sources;
  sources.sys = at + "/sys";
  sources.dev = at + "/dev";
  sources.proc = sources.etc = sources.netlink = at;
  sources.live_environment = false;
  CollectOptions options;
  options.nccl_version = "2.28.9";
  const HostSnapshot host = collect(sources, options);
  const HostSnapshot later = collect_drift(sources);
  const Decision decision = decide(host, policy_from(host));
  const HostSnapshot after = seen_again(host, later);
  find_drift(host, decision, after, decide(after, policy_from(after)));
  int with_gid = 0;
  for (const auto& hca : decision.hcas) with_gid += hca.gid ? 1 : 0;
  return with_gid;
} catch (const std::bad_alloc&) {
  return -1;
}
