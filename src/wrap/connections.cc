// SPDX-License-Identifier: Apache-2.0
#include "wrap/connections.h"

#include <cstring>
#include <ctime>

#include "core/guard.h"
#include "watch/waiting.h"
#include "watch/waiting_text.h"
#include "wrap/peer_check.h"

namespace topoguard {
namespace {

using watch::Carrier;
using watch::Found;
using watch::PeerKnown;
using watch::Trailer;
using watch::Waiter;

// Of the process, and never destroyed: NCCL may call after static destructors ran.
watch::Waiting& waiting() {
  static auto* state = new watch::Waiting;
  return *state;
}

std::uint8_t* trailer_of(void* handle) { return static_cast<std::uint8_t*>(handle) + watch::kTrailerOffset; }
const std::uint8_t* trailer_of(const void* handle) {
  return static_cast<const std::uint8_t*>(handle) + watch::kTrailerOffset;
}

bool writes_trailers(const Seat& seat) { return seat.session->enforces() && seat.carrier != Carrier::unknown; }

// The bytes of a handle that no poll changes: address and magic of the stock transports, and the trailer.
std::uint64_t identity_of(const Seat& seat, const void* handle) {
  if (seat.carrier == Carrier::unknown) return 0;
  std::uint64_t mixed = 0;
  const auto* bytes = static_cast<const std::uint8_t*>(handle);
  for (const std::size_t at : {0, 8, 16, 24, 32, 96, 104, 112, 120}) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, sizeof word);
    mixed = (mixed ^ word) * 0x9E3779B97F4A7C15u;
    mixed ^= mixed >> 29;
  }
  return mixed;
}

record::Connection connection_of(const watch::OwnEnd& own, record::Side side, std::uint64_t communicator,
                                 std::optional<int> pointers) {
  record::Connection connection;
  connection.id = record::next_connection();
  connection.side = side;
  connection.transport = own.transport;
  connection.device = own.device.number;
  connection.device_name = own.device.name;
  connection.port = own.device.port;
  connection.local = watch::address_text(own.facts);
  connection.gid_index = own.gid_index;
  connection.communicator = communicator;
  connection.pointers = pointers;
  return connection;
}

void say_finding(const Seat& seat, const Finding& finding, Reach reach) {
  record::found(*seat.session, finding);
  if (finding.severity == Severity::info)
    say(seat.voice(), "topoguard: " + watch::line_of(finding));
  else
    tell(seat.voice(), finding.severity, finding.code, watch::line_of(finding), reach);
}

double seconds_of(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

double Connections::clock() noexcept { return seconds_of(CLOCK_MONOTONIC_COARSE); }
double Connections::fine_clock() noexcept { return seconds_of(CLOCK_MONOTONIC); }

void Connections::serve(const Seat& seat) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& known : seats_)
    if (*known == seat) return seat_.store(known.get(), std::memory_order_release);
  seats_.push_back(std::make_unique<const Seat>(seat));
  if (seat.counts()) watch::Transfers::start();
  seat_.store(seats_.back().get(), std::memory_order_release);
}

void Connections::place_pattern(const Seat& seat, void* handle) noexcept {
  if (!writes_trailers(seat)) return;
  const auto pattern = watch::survival_pattern();
  std::memcpy(trailer_of(handle), pattern.data(), pattern.size());
}

void Connections::listening(const Seat& seat, std::uint64_t communicator, int device, void* handle,
                            void* comm) noexcept {
  const auto pattern = watch::survival_pattern();
  const bool survived = writes_trailers(seat) && std::memcmp(trailer_of(handle), pattern.data(), pattern.size()) == 0;
  // Never leave the pattern itself: to the peer it would be garbage.
  if (survived) std::memset(trailer_of(handle), 0, watch::kTrailerSize);
  guarded(false, [&] {
    const DeviceAnswer answer = seat.ask(seat.table, device);
    Listener listener{watch::own_end(*seat.session, seat.carrier, seat.transport, answer.name, seat.nccl_release), "",
                      communicator, answer.pointers};
    const auto socket = seat.carrier != Carrier::unknown ? watch::handle_address(handle) : std::nullopt;
    if (socket) listener.socket = socket->text();
    if (socket && seat.carrier == Carrier::socket) watch::set_address(listener.own.facts, socket->address);
    if (survived) {
      const auto bytes = watch::encode(listener.own.facts);
      std::memcpy(trailer_of(handle), bytes.data(), bytes.size());
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    listeners_.insert_or_assign(comm, std::move(listener));
    return true;
  });
}

tgnccl_result_t Connections::begin_connect(const Seat& seat, std::uint64_t communicator, int device, const void* handle,
                                           std::uint64_t identity, double now) {
  const DeviceAnswer answer = seat.ask(seat.table, device);
  const watch::OwnEnd own = watch::own_end(*seat.session, seat.carrier, seat.transport, answer.name, seat.nccl_release);
  Waiter waiter;
  waiter.connection = connection_of(own, record::Side::send, communicator, answer.pointers);
  waiter.carrier = seat.carrier;
  waiter.netdev = own.netdev;
  waiter.identity = identity;
  waiter.polled = now;
  waiter.since = fine_clock();
  const auto socket = seat.carrier != Carrier::unknown ? watch::handle_address(handle) : std::nullopt;
  if (socket) waiter.peer_socket = socket->text();

  Trailer peer;
  const Found found = watch::decode(trailer_of(handle), peer);
  waiter.peer = found == Found::trailer         ? PeerKnown::trailer
                : found == Found::other_version ? PeerKnown::other_version
                                                : PeerKnown::nothing;
  waiter.connection.peer = found == Found::trailer ? watch::address_text(peer) : "";
  if (waiter.connection.peer.empty() && socket && seat.carrier == Carrier::socket)
    waiter.connection.peer = socket->address.text();
  if (found == Found::trailer) waiter.connection.peer_detail = watch::detail_text(peer);

  const PeerVerdict verdict = check_peer(seat, own, found == Found::trailer ? &peer : nullptr, socket);
  waiter.trouble = verdict.trouble;
  if (verdict.ask_again) waiter.ask_route_again = now + kRouteAgain;
  if (verdict.refuse) {
    record::connect_failed(*seat.session, seat.voice(), waiter.connection, 0, tgnccl_system_error, verdict.trouble);
    return tgnccl_system_error;
  }
  waiting().add({handle, record::Side::send}, std::move(waiter));
  return tgnccl_success;
}

tgnccl_result_t Connections::before_connect(const Seat& seat, std::uint64_t communicator, int device,
                                            const void* handle, double now) noexcept {
  return guarded(tgnccl_success, [&] {
    const std::uint64_t identity = identity_of(seat, handle);
    const Key key{handle, record::Side::send};
    const auto poll = waiting().polled(key, identity, now);
    if (!poll.known) return begin_connect(seat, communicator, device, handle, identity, now);
    if (!poll.ask_route) return tgnccl_success;
    // The route was missing when this began, and nothing has come up since: a last look.
    waiting().route_settled(key);
    const auto socket = watch::handle_address(handle);
    Trailer peer;
    const bool known = watch::decode(trailer_of(handle), peer) == Found::trailer;
    const DeviceAnswer answer = seat.ask(seat.table, device);
    const watch::OwnEnd own =
        watch::own_end(*seat.session, seat.carrier, seat.transport, answer.name, seat.nccl_release);
    const auto trouble = still_no_route(seat, own, known ? &peer : nullptr, socket);
    if (!trouble) return tgnccl_success;
    const auto end = waiting().done(key, false, now);
    if (end.waiter)
      record::connect_failed(*seat.session, seat.voice(), end.waiter->connection, now - end.waiter->since,
                             tgnccl_system_error, *trouble);
    return tgnccl_system_error;
  });
}

void Connections::before_accept(const Seat& seat, void* listen_comm, double now) noexcept {
  guarded(false, [&] {
    const Key key{listen_comm, record::Side::recv};
    if (waiting().polled(key, 0, now).known) return true;
    Waiter waiter;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto found = listeners_.find(listen_comm);
      if (found == listeners_.end()) return true;
      const Listener& listener = found->second;
      waiter.connection = connection_of(listener.own, record::Side::recv, listener.communicator, listener.pointers);
      waiter.netdev = listener.own.netdev;
      waiter.own_socket = listener.socket;
    }
    waiter.carrier = seat.carrier;
    waiter.polled = now;
    waiter.since = fine_clock();
    waiting().add(key, std::move(waiter));
    return true;
  });
}

void Connections::came_up(const Seat& seat, Key key, void* comm, double now) {
  const auto end = waiting().done(key, true, now);
  if (!end.waiter) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_.insert_or_assign(comm, Open{end.waiter->connection, 0});
  }
  if (watch::Transfers::on() != nullptr) watch::Transfers::open(comm);
  record::connected(*seat.session, seat.voice(), end.waiter->connection, now - end.waiter->since);
  if (end.line) say_finding(seat, *end.line, Reach::process);
}

tgnccl_result_t Connections::after_poll(const Seat& seat, Key key, void* const* comm, tgnccl_result_t result,
                                        double now) noexcept {
  return guarded(result, [&] {
    if (result != tgnccl_success) {
      const auto end = waiting().done(key, false, now);
      if (end.waiter)
        record::connect_failed(*seat.session, seat.voice(), end.waiter->connection, now - end.waiter->since, result,
                               end.waiter->trouble);
      return result;
    }
    if (*comm != nullptr) {
      came_up(seat, key, *comm, fine_clock());
      return result;
    }
    const Policy& policy = seat.session->policy;
    const auto step = waiting().still_waiting(
        key, now, {policy.connect_warn_s, seat.session->enforces() ? policy.connect_timeout_s : 0});
    if (step.line) say_finding(seat, *step.line, Reach::process);
    if (!step.timed_out) return result;
    const auto end = waiting().done(key, false, now);
    if (!end.waiter) return result;
    const double waited = now - end.waiter->since;
    const Finding finding = watch::timeout_finding(*end.waiter, waited, policy.connect_timeout_s);
    say_finding(seat, finding, Reach::process);
    record::connect_failed(*seat.session, seat.voice(), end.waiter->connection, waited, tgnccl_system_error,
                           finding.message);
    return tgnccl_system_error;
  });
}

void Connections::registered(void* comm, record::Memory memory, tgnccl_result_t result) noexcept {
  guarded(false, [&] {
    const Seat* seat = watching();
    if (seat == nullptr) return false;
    record::Connection connection;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto found = open_.find(comm);
      const unsigned bit = 1u << static_cast<unsigned>(memory);
      if (found == open_.end() || (found->second.memory & bit) != 0) return false;
      found->second.memory |= bit;
      connection = found->second.connection;
    }
    record::memory_registered(*seat->session, seat->voice(), connection, memory, result);
    return true;
  });
}

void Connections::closing(void* comm) noexcept {
  guarded(false, [&] {
    const Seat* seat = watching();
    if (seat == nullptr) return false;
    record::Connection connection;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto found = open_.find(comm);
      if (found == open_.end()) return false;
      connection = std::move(found->second.connection);
      open_.erase(found);
    }
    if (watch::Transfers::on() != nullptr)
      if (const auto sum = watch::Transfers::close(comm))
        record::moved(*seat->session, connection, sum->operations, sum->bytes);
    record::closed(*seat->session, seat->voice(), connection);
    return true;
  });
}

void Connections::closing_listener(void* comm) noexcept {
  guarded(false, [&] {
    if (watching() == nullptr) return false;
    waiting().done({comm, record::Side::recv}, false, 0);
    const std::lock_guard<std::mutex> lock(mutex_);
    listeners_.erase(comm);
    return true;
  });
}

void Connections::look(watch::Transfers::Slot& slot) noexcept {
  guarded(false, [&] {
    const Seat* seat = watching();
    watch::Transfers* transfers = watch::Transfers::on();
    if (seat == nullptr || transfers == nullptr) return false;
    const double now = clock(), limit = seat->session->policy.stall_warn_s;
    const auto stalled = watch::Transfers::look(slot, now, limit);
    if (stalled.empty() || !transfers->due(now, limit)) return false;
    std::vector<watch::StalledConnection> named;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (const auto& entry : stalled) {
        const auto found = open_.find(entry.comm);
        named.push_back(
            {found != open_.end() ? found->second.connection : record::Connection(), entry.requests, entry.longest});
      }
    }
    say_finding(*seat, watch::stalled_finding(named), Reach::process);
    return true;
  });
}

}  // namespace topoguard
