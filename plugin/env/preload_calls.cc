// SPDX-License-Identifier: Apache-2.0
#include "preload_calls.h"

#include <algorithm>
#include <atomic>

#include "affinity/affinity.h"
#include "core/announce.h"
#include "core/drift.h"
#include "core/guard.h"
#include "core/session.h"
#include "env_state.h"
#include "host/process_env.h"
#include "launch/announcement.h"
#include "launch/plugin_name.h"
#include "steer/environment.h"

namespace topoguard {
namespace {

constexpr int kMostIds = 64;  // of ncclCommInitRankScalable; a job of 10,000 ranks uses about as many

// NCCL has read the variable once its first call is through: only the first one can still correct it.
void correct_plugin_name(const NcclObject& nccl) {
  static std::atomic<bool> done{false};
  if (done.exchange(true)) return;
  const auto release = NcclRelease::parse(nccl.release);
  const auto published = live_variable("NCCL_NET_PLUGIN");
  if (!release || !published) return;
  const PluginName name = name_for_release(*published, *release);
  if (!name.change) return;
  if (name.value)
    publish_environment({{"NCCL_NET_PLUGIN", *name.value}}, {});
  else
    publish_environment({}, {"NCCL_NET_PLUGIN"});
}

void check_announcements(const topoguard_call_t& call, const Session& session) {
  if (call.ids == nullptr || call.ranks < 2) return;
  AnnouncementFacts facts;
  facts.rank = call.rank;
  facts.ranks = call.ranks;
  facts.local_ranks = local_ranks([](std::string_view name) { return live_variable(name); });
  // With NCCL_COMM_ID everybody knows the address before rank 0 listens, so nobody listening proves nothing.
  const bool given = live_variable("NCCL_COMM_ID").has_value();
  for (int i = 0; i < std::min(call.id_count, kMostIds); ++i) {
    const auto announcement =
        read_announcement(static_cast<const char*>(call.ids) + static_cast<std::size_t>(i) * TGNCCL_UNIQUE_ID_BYTES,
                          TGNCCL_UNIQUE_ID_BYTES);
    if (!announcement) continue;
    facts.listens_here = given ? std::nullopt : listens_here(*announcement);
    facts.route_error = route_error(*announcement);
    if (const auto finding = judge(*announcement, facts, session.host))
      complain(session.voice(nullptr), finding->severity, finding->code, finding->message + "; " + finding->remedy);
  }
}

}  // namespace

void before_nccl_call(const topoguard_call_t* call) noexcept {
  guarded(false, [&] {
    const auto nccl = nccl_object_of(call->nccl);
    Caller caller;
    caller.front_end = FrontEnd::preload;
    caller.nccl = nccl ? &*nccl : nullptr;
    const Session& session = enter(caller);
    if (session.off) return true;
    if (nccl) correct_plugin_name(*nccl);
    if (!session.decided) return true;
    check_announcements(*call, session);
    if (!net_plugin_speaks(session, default_name_is_ours()))
      announce(session, caller.nccl, Way::steering, "the preload library alone", nullptr);  // warnings, on stderr
    if (call->rank >= 0) {
      static FurtherCommunicators communicators;
      if (communicators.one_more()) look_again(session, session.voice(nullptr));
      AffinityRequest request;
      request.ranks = call->ranks;
      request.own_thread = true;
      bind_for_communicator(session.host, session.decision, session.policy, request);
    }
    return true;
  });
}

}  // namespace topoguard
