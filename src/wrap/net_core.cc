// SPDX-License-Identifier: Apache-2.0
#include "wrap/net_core.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "affinity/affinity.h"
#include "core/announce.h"
#include "core/guard.h"
#include "record/record.h"
#include "stock/release.h"
#include "stock/table_shape.h"

namespace topoguard {
namespace {

constexpr std::size_t kPropertiesRoom = 512;

std::string joined(const std::set<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

// A merged NIC is named "mlx5_0+mlx5_1" (2.20 to 2.23, and made from parts later); "_dma" is the data-direct twin of
// the device before it (2.27 and later).
void add_parts(std::string_view name, std::set<std::string>& names) {
  while (!name.empty()) {
    const auto end = std::min(name.find('+'), name.size());
    auto part = name.substr(0, end);
    if (part.size() > 4 && part.substr(part.size() - 4) == "_dma") part.remove_suffix(4);
    names.emplace(part);
    name.remove_prefix(std::min(end + 1, name.size()));
  }
}

// NCCL calls init() with the communicator's device current, and starts its threads later: they inherit the mask.
void bind_cpus(const Session& session, const Voice& voice) {
  if (!session.decided) return;
  const AffinityOutcome outcome = bind_for_communicator(session.host, session.decision, session.policy, {});
  if (!outcome.text.empty()) say(voice, "topoguard: " + outcome.text);
}

// What the transport calls itself: the first member of every table.
std::string transport_name(const Base& base) {
  const char* name = nullptr;
  std::memcpy(&name, base.table, sizeof name);
  return name != nullptr ? name : "a plugin without a name";
}

// The decision's own finding names the first broken link between the hardware and NCCL.
std::string refusal(const Session& session) {
  std::string text = "TOPOGUARD_REQUIRE=IB, and NCCL's IB transport has no device although the decision names one";
  std::string remedy =
      "`topoguard doctor` says what is wrong with each device; or unset TOPOGUARD_REQUIRE to let the "
      "job run over TCP";
  for (const auto& finding : session.decision.findings) {
    if (finding.code != "require-ib-unmet") continue;
    text = finding.message;
    if (!finding.remedy.empty()) remedy = finding.remedy;
  }
  while (!text.empty() && text.back() == '.') text.pop_back();
  return text + ". Connections to other hosts are refused with a system error. Remedy: " + remedy;
}

std::set<std::string> wanted_devices(const Decision& decision, BaseKind kind) {
  std::set<std::string> names;
  if (kind == BaseKind::ib)
    for (const auto& hca : decision.hcas) names.insert(hca.name);
  else
    names.insert(decision.socket.ifnames.begin(), decision.socket.ifnames.end());
  return names;
}

}  // namespace

bool NetCore::live() const {
  // Before v11 there is no finalize(): what was bound once stays in use as long as its NCCL is mapped.
  return bound_ && still_loaded(bound_->object) && (api_ < 11 || contexts_.size() > 0);
}

tgnccl_result_t NetCore::decline(const NcclObject* nccl) const {
  // A table older than v11 is called through a shim whose finalize slot is still NULL after a failed init(), and these
  // releases call it. Success without devices disables us just as well.
  const int code = nccl != nullptr ? nccl->version_code : 0;
  if (api_ < 11 && finalizes_after_failed_init(code)) return tgnccl_success;
  return tgnccl_internal_error;
}

tgnccl_result_t NetCore::open(tgnccl_logger_t logger, const NetHooks& hooks, void** context,
                              std::uint64_t communicator) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (context != nullptr) *context = nullptr;
  const auto nccl = nccl_object_of(reinterpret_cast<const void*>(logger));
  Caller caller;
  caller.logger = logger;
  caller.nccl = nccl ? &*nccl : nullptr;
  const Session& session = enter(caller);
  const Voice voice = session.voice(logger);
  bind_cpus(session, voice);
  if (communicators_.one_more()) look_again(session, voice);
  if (!nccl) {
    complain(voice, Severity::warning, "nccl-not-found",
             "the caller of the net plugin is in no loaded library, so its transports cannot be wrapped: NCCL goes on "
             "with its own transports");
    return decline(nullptr);
  }
  if (live()) {
    if (same_object(bound_->object, nccl->object)) return join(session, logger, hooks, context, communicator);
    complain(voice, Severity::warning, "second-nccl",
             "a second NCCL in this process (" + nccl->object.path + ") asks for the net plugin while " +
                 bound_->object.path +
                 " uses it: the second one goes on with its own transports. Remedy: load one NCCL per process");
    return decline(&*nccl);
  }
  // Contexts of a library that was closed without destroying its communicators: nobody can come back with them.
  contexts_.clear();
  return bind(session, *nccl, logger, hooks, context, communicator);
}

void NetCore::seat(const Session& session, tgnccl_logger_t logger, const NetHooks& hooks) {
  Seat seat;
  seat.session = &session;
  seat.logger = logger;
  seat.carrier = base_.kind == BaseKind::ib       ? watch::Carrier::ib
                 : base_.kind == BaseKind::socket ? watch::Carrier::socket
                                                  : watch::Carrier::unknown;
  seat.transport = transport_name(base_);
  seat.nccl_release = bound_->version_code;
  seat.table = base_.table;
  seat.ask = hooks.ask;
  connections_.serve(seat);
}

void NetCore::closed(const Context& context) {
  const Seat* seat = connections_.seat();
  if (seat != nullptr) record::communicator_closed(*seat->session, seat->voice(), context.communicator);
}

tgnccl_result_t NetCore::join(const Session& session, tgnccl_logger_t logger, const NetHooks& hooks, void** context,
                              std::uint64_t communicator) {
  Context fresh;
  fresh.communicator = communicator;
  void* const handle = contexts_.add(fresh);  // first: what the base gives must not be lost for want of memory
  fresh.failure = hooks.init(base_.table, &fresh.base);
  contexts_.set(handle, fresh);
  if (context != nullptr) *context = handle;
  guarded(false, [&] {
    report_joined(session, logger, hooks, fresh);
    return true;
  });
  return tgnccl_success;
}

void NetCore::report_joined(const Session& session, tgnccl_logger_t logger, const NetHooks& hooks,
                            const Context& fresh) const {
  // One failing init() would disable the plugin for every communicator of the process, so this one alone bears it.
  if (fresh.failure != tgnccl_success)
    complain(session.voice(logger), Severity::error, "base-init-failed",
             base_.label + " failed to initialise for a further communicator (NCCL result " +
                 std::to_string(fresh.failure) + "): its connections will fail; others are not affected");
  int devices = 0;
  if (hooks.devices(base_.table, &devices) != tgnccl_success) devices = 0;
  record::communicator_opened(session, session.voice(logger), fresh.communicator, transport_name(base_), devices);
}

bool NetCore::try_base(const Base& base, const NetHooks& hooks, void** base_context, int* devices,
                       std::string* why) const {
  *devices = 0;
  const tgnccl_result_t result = hooks.init(base.table, base_context);
  // The return code alone proves nothing: from 2.28 on a second init() succeeds though the first one failed.
  const bool has_devices =
      result == tgnccl_success && hooks.devices(base.table, devices) == tgnccl_success && *devices > 0;
  if (!has_devices) {
    *why = base.label + " has no device here";
    if (result == tgnccl_success && hooks.finalize) hooks.finalize(base.table, *base_context);
    return false;
  }
  if (base.kind == BaseKind::foreign) return true;
  const auto extent =
      properties_extent([&](void* buffer) { return hooks.properties(base.table, 0, buffer) == tgnccl_success; });
  if (extent && extent_fits(api_, *extent)) return true;
  *why = base.label + " does not have the layout of net API v" + std::to_string(api_) + " (" +
         (extent ? "it fills " + std::to_string(*extent) + " bytes of properties" : "its properties cannot be read") +
         ")";
  if (hooks.finalize) hooks.finalize(base.table, *base_context);
  return false;
}

tgnccl_result_t NetCore::bind(const Session& session, const NcclObject& nccl, tgnccl_logger_t logger,
                              const NetHooks& hooks, void** context, std::uint64_t communicator) {
  const Voice voice = session.voice(logger);
  // What was bound before may be unmapped by now.
  bound_.reset();
  hooks.take(Base{}, false);
  const BaseChoice choice = choose_bases(session, nccl, api_, logger);
  const bool observes = session.decided && session.policy.mode == Mode::observe;
  std::string why = choice.declined;
  for (const auto& base : choice.bases) {
    Context fresh;
    fresh.communicator = communicator;
    void* const handle = contexts_.add(fresh);
    int devices = 0;
    std::string problem;
    if (!try_base(base, hooks, &fresh.base, &devices, &problem)) {
      contexts_.remove(handle);
      why += (why.empty() ? "" : "; ") + problem;
      continue;
    }
    try {
      bound_ = nccl;
      base_ = base;
      seat(session, logger, hooks);
      hooks.take(base, connections_.seat()->counts());
    } catch (...) {  // no memory: half bound would be taken for bound
      bound_.reset();
      contexts_.remove(handle);
      if (hooks.finalize) hooks.finalize(base.table, fresh.base);
      throw;
    }
    contexts_.set(handle, fresh);
    if (context != nullptr) *context = handle;
    // It runs from here on: words that fail must not end that.
    guarded(false, [&] {
      const std::string what = base.label + ", " + std::to_string(devices) + (devices == 1 ? " device" : " devices") +
                               (base.kind == BaseKind::foreign ? std::string() : ", found by " + choice.how);
      announce(session, &nccl, observes ? Way::observe : Way::wrapped, what, logger);
      record::communicator_opened(session, voice, communicator, transport_name(base), devices);
      return true;
    });
    guarded(false, [&] {
      check_require(session, voice, base);
      if (session.enforces() && base.kind != BaseKind::foreign) check_steering(session, voice, base, hooks, devices);
      return true;
    });
    return tgnccl_success;
  }
  announce(session, &nccl, observes ? Way::observe : Way::steering, why, logger);
  if (nccl_net_names_us() && !session.off)
    complain(voice, Severity::error, "nothing-to-wrap",
             "NCCL_NET=topoguard allows no other network, and there is nothing to wrap (" + why +
                 "). Remedy: unset NCCL_NET; NCCL_NET_PLUGIN=topoguard is enough");
  else if (choice.surprising)
    complain(voice, Severity::warning, "steering-alone",
             why + ". NCCL goes on with its own transports" +
                 (session.published ? ", steered by the variables that topoguard has set" : "") +
                 ". Remedy: " + choice.remedy);
  return decline(&nccl);
}

void NetCore::check_require(const Session& session, const Voice& voice, const Base& base) {
  const bool unmet = session.enforces() && session.policy.require_ib && base.kind == BaseKind::socket;
  refuses_.store(unmet, std::memory_order_relaxed);
  said_refusal_.store(false, std::memory_order_relaxed);
  if (unmet) complain(voice, Severity::error, "require-ib-unmet", refusal(session));
}

tgnccl_result_t NetCore::refuse_connection() noexcept {
  return guarded(tgnccl_system_error, [&] {
    const Seat* seat = connections_.seat();
    // A communicator of one host never comes here, so this is said where a connection really is refused.
    if (seat != nullptr && !said_refusal_.exchange(true))
      tell(seat->voice(), Severity::error, "require-ib-unmet",
           "a connection to another host is refused. " + refusal(*seat->session), Reach::process);
    return tgnccl_system_error;
  });
}

void NetCore::check_steering(const Session& session, const Voice& voice, const Base& base, const NetHooks& hooks,
                             int devices) {
  std::set<std::string> seen;
  for (int device = 0; device < devices; ++device) {
    alignas(16) std::array<unsigned char, kPropertiesRoom> properties{};
    if (hooks.properties(base.table, device, properties.data()) != tgnccl_success) continue;
    const char* name = nullptr;  // the first member in every version
    std::memcpy(&name, properties.data(), sizeof name);
    if (name != nullptr) add_parts(name, seen);
  }
  // Decided for RDMA and running over TCP is a difference, whatever the interface is called.
  const bool lost_ib = session.decision.transport == Transport::ib && base.kind == BaseKind::socket;
  const auto wanted = wanted_devices(session.decision, lost_ib ? BaseKind::ib : base.kind);
  if (seen == wanted || wanted.empty()) return;
  // The chain was whole up to NCCL itself: what is left is its library, or the drivers that this loads.
  if (lost_ib)
    return complain(
        voice, Severity::warning, "slow-fallback",
        "this host has RDMA hardware that can be used (" + joined(wanted) + "), and the data goes over TCP (" +
            joined(seen) +
            "): NCCL's IB transport found no device. Mostly libibverbs.so.1 or its driver (libmlx5 and the "
            "like) is missing in the image, or nccl.conf sets NCCL_IB_DISABLE or NCCL_IB_HCA. Remedy: "
            "install rdma-core and ibverbs-providers in the image; ibv_devinfo must list the devices there");
  complain(voice, Severity::warning, "steering-not-applied",
           "NCCL took " + joined(seen) + " where topoguard decided on " + joined(wanted) +
               ". NCCL may have looked at its devices before topoguard could act, or nccl.conf may set them. Data goes "
               "over what NCCL took. Remedy: use the env plugin, the preload library or topoguard exec");
}

}  // namespace topoguard
