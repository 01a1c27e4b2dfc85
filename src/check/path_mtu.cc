// SPDX-License-Identifier: Apache-2.0
#include "check/path_mtu.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>

#include "check/responder.h"

namespace topoguard::check {
namespace {

using std::chrono::milliseconds;

constexpr int kUnknownMtu = 1500;
// Lost by chance, or late on a busy host: five times before a size counts as lost, three in the search. Longer while
// nothing at all has come back: without an answer to the small size, nothing is known of the large one.
constexpr int kFirstTries = 5, kTries = 3, kTriesForAny = 14;
constexpr milliseconds kFirstPause{200}, kPause{120};

int wanted_size(const Offer& from, const Offer& to) {
  if (from.mtu == 0 || to.mtu == 0) return std::max({from.mtu, to.mtu, 0}) == 0 ? kUnknownMtu : from.mtu + to.mtu;
  return std::min(from.mtu, to.mtu);
}

}  // namespace

std::set<int> sizes_between(int low, int high, int hint) {
  constexpr int kMost = 14;
  std::set<int> out;
  const int room = high - low - 1;
  for (int i = 1; i <= std::min(room, kMost); ++i)
    out.insert(low + static_cast<int>(static_cast<long>(room) * i / std::min(room, kMost)));
  for (const int size : {hint, hint + 1})
    if (size > low && size < high) out.insert(size);
  return out;
}

PathMtuProbe::PathMtuProbe(Loop& loop, const Offer& from, const Offer& to, std::string key, Probe& probe,
                           std::function<void()> done)
    : loop_(loop),
      probe_(probe),
      done_(std::move(done)),
      key_(std::move(key)),
      headers_(from.address.family == Family::inet ? 28 : 48),
      high_(std::min(wanted_size(from, to), 65535)) {
  probe_.mtu_wanted = high_;
  socket_ = bind_udp({from.address, 0, from.ifindex}, from.use == Use::rdma ? from.netdev : "");
  const int small = from.address.family == Family::inet ? 576 : 1280;  // every path carries those
  trying_ = {std::min(small, high_), high_};
  const bool ready = socket_.fd && to.udp_port != 0 && high_ > headers_ + static_cast<int>(key_.size() + kNumber) &&
                     probe_without_fragments(socket_.fd.get(), from.address.family) &&
                     connect_udp(socket_.fd.get(), {to.address, to.udp_port, from.ifindex}) == 0;
  if (!ready) {
    timer_ = loop_.at(Clock::now(), [this] { finish(); });
    return;
  }
  loop_.watch(socket_.fd.get(), POLLIN, [this](short) {
    drain_errors();
    receive();
  });
  timer_ = loop_.at(Clock::now(), [this] { tick(); });
}

PathMtuProbe::~PathMtuProbe() {
  if (socket_.fd) loop_.forget(socket_.fd.get());
  loop_.cancel(timer_);
}

void PathMtuProbe::send_all() {
  for (const int size : trying_) {
    std::string datagram = key_;
    put_number(datagram, static_cast<std::uint32_t>(size));
    datagram.resize(static_cast<std::size_t>(size - headers_), '\0');
    // An earlier datagram's error is told to the next call once.
    for (int i = 0; i < 2; ++i)
      if (::send(socket_.fd.get(), datagram.data(), datagram.size(), MSG_NOSIGNAL) >= 0) break;
  }
  ++sent_;
}

void PathMtuProbe::tick() {
  drain_errors();
  receive();
  if (finished_) return;
  if (sent_ < (!first_ ? kTries : low_ == 0 ? kTriesForAny : kFirstTries)) {
    send_all();
    timer_ = loop_.at(Clock::now() + (first_ ? kFirstPause : kPause), [this] { tick(); });
    return;
  }
  next_round();
}

void PathMtuProbe::next_round() {
  if (low_ == 0) return finish();
  for (const int size : trying_)
    if (size > low_) high_ = std::min(high_, size);
  trying_ = sizes_between(low_, high_, hint_);
  if (trying_.empty()) return finish();
  first_ = false;
  sent_ = 0;
  tick();
}

void PathMtuProbe::drain_errors() {
  while (socket_.fd) {
    const auto error = next_error(socket_.fd.get());
    if (!error) return;
    if (error->error != EMSGSIZE || !error->sender) continue;
    hint_ = error->mtu;
    told_by_ = error->sender;
  }
}

void PathMtuProbe::receive() {
  char buffer[64];
  for (int i = 0; i < 64 && socket_.fd; ++i) {
    const ssize_t got = ::recv(socket_.fd.get(), buffer, sizeof buffer, 0);
    if (got < 0 && errno == EAGAIN) return;
    if (got < 0) continue;
    const std::string_view seen(buffer, static_cast<std::size_t>(got));
    if (seen.size() != kOk.size() + 2 * kNumber || seen.substr(0, kOk.size()) != kOk) continue;
    const auto size = static_cast<std::int64_t>(get_number(seen.substr(kOk.size())));
    const auto arrived = static_cast<std::int64_t>(get_number(seen.substr(kOk.size() + kNumber)));
    if (size > probe_.mtu_wanted || size != arrived + headers_) continue;
    low_ = std::max(low_, static_cast<int>(size));
    if (low_ == probe_.mtu_wanted) return finish();
  }
}

void PathMtuProbe::stop() { finish(); }

void PathMtuProbe::finish() {
  if (finished_) return;
  finished_ = true;
  loop_.cancel(timer_);
  probe_.mtu = low_;
  if (low_ == probe_.mtu_wanted)
    probe_.mtu_state = MtuState::full;
  else if (low_ == 0 || first_)  // out of time before the first sizes had their tries: nothing is proven
    probe_.mtu_state = MtuState::unknown;
  else
    probe_.mtu_state = told_by_ ? MtuState::told : MtuState::black_hole;
  if (probe_.mtu_state == MtuState::told) probe_.told_by = told_by_;
  if (socket_.fd) loop_.forget(socket_.fd.get());
  socket_.fd = Fd();
  done_();
}

}  // namespace topoguard::check
