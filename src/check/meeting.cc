// SPDX-License-Identifier: Apache-2.0
#include "check/meeting.h"

#include <poll.h>

#include <algorithm>
#include <map>

#include "check/pairs.h"
#include "document/printable.h"

namespace topoguard::check {
namespace {

using std::chrono::milliseconds;

constexpr int kClockRounds = 4;
constexpr std::size_t kMostGuests = 20000;
constexpr std::size_t kMostTurnedAway = 64;

std::int64_t unix_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Times Times::of(milliseconds whole) { return {whole / 2, whole * 35 / 100, whole * 10 / 100}; }

struct Meeting::Guest {
  std::unique_ptr<Channel> channel;
  std::optional<Hello> hello;  // empty until it is taken
  int clock_rounds = 0;
  Clock::time_point asked;
  std::int64_t asked_ns = 0;
  std::optional<ClockOffset> clock;
  bool planned = false, reported = false;
  Report report;
  std::string lost;

  bool is_here() const { return hello && (planned || channel->open()); }
};

Meeting::Meeting(Loop& loop, Socket listener, const Placement& placement, Hello own, Times times,
                 std::size_t descriptors)
    : loop_(loop),
      listener_(std::move(listener)),
      placement_(placement),
      own_(std::move(own)),
      times_(times),
      descriptors_(descriptors) {
  loop_.watch(listener_.fd.get(), POLLIN, [this](short) { accept(); });
}

Meeting::~Meeting() {
  if (listener_.fd) loop_.forget(listener_.fd.get());
}

void Meeting::accept() {
  Target from;
  Socket socket = accept_one(listener_.fd.get(), &from);
  if (!socket.fd || guests_.size() >= kMostGuests) return;
  guests_.remove_if([](const Guest& guest) { return !guest.channel->open() && !guest.planned; });
  Guest& guest = guests_.emplace_back();
  guest.channel = std::make_unique<Channel>(
      loop_, std::move(socket), from, kHelloLimit, [this, &guest](Message& message) { take(guest, message); },
      [this, &guest](const Ending& ending) { lose(guest, ending); });
}

void Meeting::turn_away(Guest& guest, TurnedAway::Why why, const std::string& detail) {
  if (turned_away_.size() < kMostTurnedAway)
    turned_away_.push_back({why, guest.channel->peer().address.text(), printable(detail, 300)});
  guest.channel->send(Refusal{printable(detail, 900)});
  guest.channel->close();
}

void Meeting::lose(Guest& guest, const Ending& ending) {
  using Why = Ending::Why;
  if (guest.planned) {
    if (!guest.reported) guest.lost = ending.detail;
    return;
  }
  const std::string from = guest.channel->peer().address.text();
  if (ending.why == Why::stranger || (!guest.hello && ending.why == Why::closed)) {
    ++strangers_;
  } else if (turned_away_.size() < kMostTurnedAway) {
    if (ending.why == Why::other_version)
      turned_away_.push_back({TurnedAway::Why::other_version, from, std::to_string(ending.version)});
    else if (ending.why == Why::malformed)
      turned_away_.push_back({TurnedAway::Why::malformed, from, printable(ending.detail, 300)});
  }
  guest.hello.reset();  // it may come again
}

void Meeting::take(Guest& guest, Message& message) {
  if (auto* hello = std::get_if<Hello>(&message); hello != nullptr && !guest.hello)
    return take_hello(guest, std::move(*hello));
  if (const auto* answer = std::get_if<ClockAnswer>(&message); answer != nullptr && guest.hello)
    return take_clock(guest, *answer);
  if (auto* report = std::get_if<Report>(&message); report != nullptr && guest.planned && !guest.reported)
    return take_report(guest, std::move(*report));
  guest.channel->close();
  lose(guest, {Ending::Why::malformed, 0, "a message that was not its turn"});
}

void Meeting::take_hello(Guest& guest, Hello hello) {
  using Why = TurnedAway::Why;
  if (hello.job != own_.job)
    return turn_away(guest, Why::other_job,
                     "this is the check of " + (own_.job.empty() ? "a job without a name" : own_.job) +
                         ", and not of " + (hello.job.empty() ? "one without a name" : hello.job));
  if (hello.ranks != placement_.ranks)
    return turn_away(guest, Why::conflict,
                     hello.host + " says that there are " + std::to_string(hello.ranks) + " ranks; rank 0 was told " +
                         std::to_string(placement_.ranks));
  const auto twice = std::find_if(guests_.begin(), guests_.end(), [&](const Guest& other) {
    return other.is_here() && other.hello->rank == hello.rank;
  });
  if (hello.rank == own_.rank || twice != guests_.end())
    return turn_away(guest, Why::conflict,
                     hello.host + " and " + (hello.rank == own_.rank ? own_.host : twice->hello->host) +
                         " both are rank " + std::to_string(hello.rank));
  if (probing_)
    return turn_away(guest, Why::conflict,
                     hello.host + " (rank " + std::to_string(hello.rank) + ") came after rank 0 had stopped waiting");
  guest.hello = std::move(hello);
  guest.channel->allow(kPlanLimit);
  guest.asked = Clock::now();
  guest.asked_ns = unix_ns();
  guest.channel->send(ClockQuestion{});
}

void Meeting::take_clock(Guest& guest, const ClockAnswer& answer) {
  const auto now = Clock::now();
  const double trip = std::chrono::duration<double>(now - guest.asked).count();
  const double middle = static_cast<double>(answer.unix_ns - guest.asked_ns) * 1e-9 - trip / 2;
  if (!guest.clock || trip / 2 < guest.clock->uncertainty) guest.clock = ClockOffset{middle, trip / 2};
  if (++guest.clock_rounds >= kClockRounds) return;
  guest.asked = Clock::now();
  guest.asked_ns = unix_ns();
  guest.channel->send(ClockQuestion{});
}

void Meeting::take_report(Guest& guest, Report report) {
  guest.report = std::move(report);
  guest.reported = true;
}

bool Meeting::all_here() const {
  int here = own_.stands_for;
  for (const Guest& guest : guests_)
    if (guest.is_here() && guest.clock_rounds >= kClockRounds) here += guest.hello->stands_for;
  return here >= placement_.ranks;
}

void Meeting::begin_probes() {
  probing_ = true;
  joined_ = Clock::now();
  // One process of each host tries; the lowest rank is on top.
  std::map<std::string, std::pair<const Hello*, Guest*>> first{{own_.machine, {&own_, nullptr}}};
  for (Guest& guest : guests_) {
    if (!guest.is_here()) continue;
    guest.planned = true;
    const auto [at, added] = first.try_emplace(guest.hello->machine, std::pair{&*guest.hello, &guest});
    if (!added && guest.hello->rank < at->second.first->rank) at->second = {&*guest.hello, &guest};
  }
  std::vector<std::pair<const Hello*, Guest*>> hosts;
  for (const auto& [machine, host] : first) hosts.push_back(host);
  std::sort(hosts.begin(), hosts.end(), [](const auto& a, const auto& b) { return a.first->rank < b.first->rank; });
  const auto budget = static_cast<int>(times_.probe.count());
  std::map<const Guest*, Plan> plans;
  Plan own_plan;
  own_plan.budget_ms = budget;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    Plan plan;
    plan.budget_ms = budget;
    for (const std::size_t j : partners(i, hosts.size())) {
      const Hello& other = *hosts[j].first;
      plan.partners.push_back({other.rank, other.host, other.key, other.offers});
    }
    if (hosts[i].second == nullptr)
      own_plan = std::move(plan);
    else
      plans[hosts[i].second] = std::move(plan);
  }
  for (Guest& guest : guests_) {
    if (!guest.planned) continue;
    Plan nothing;
    nothing.budget_ms = budget;
    const auto plan = plans.find(&guest);
    guest.channel->send(plan != plans.end() ? plan->second : nothing);
  }
  prober_ = std::make_unique<Prober>(loop_, own_.offers, std::move(own_plan), descriptors_ / 4, [this](Report report) {
    own_report_ = std::move(report);
    own_done_ = true;
  });
}

Gathered Meeting::gather() {
  loop_.run(start_ + times_.join, [this] { return all_here(); });
  begin_probes();
  loop_.run(joined_ + times_.probe + times_.report, [this] {
    return own_done_ && std::all_of(guests_.begin(), guests_.end(), [](const Guest& guest) {
             return !guest.planned || guest.reported || !guest.channel->open();
           });
  });
  return result();
}

Gathered Meeting::result() {
  Gathered out;
  out.placement = placement_;
  out.turned_away = turned_away_;
  out.strangers = strangers_;
  out.waited = std::chrono::duration<double>(joined_ - start_).count();
  std::map<int, HostSeen> by_rank;
  by_rank[own_.rank] = {own_, "", std::nullopt, {}, own_done_, own_done_ ? "" : "out of time", own_report_.probes};
  for (const Guest& guest : guests_) {
    if (!guest.planned) continue;
    const std::string lost = guest.reported ? "" : guest.lost.empty() ? "it did not answer in time" : guest.lost;
    by_rank[guest.hello->rank] = {
        *guest.hello, guest.channel->peer().address.text(), guest.clock, {}, guest.reported, lost, guest.report.probes};
  }
  std::map<std::string, std::size_t> machines;
  int here = 0;
  bool one_each = true;
  std::vector<bool> came(static_cast<std::size_t>(placement_.ranks));
  for (auto& [rank, host] : by_rank) {
    here += host.hello.stands_for;
    one_each = one_each && host.hello.stands_for == 1;
    came[static_cast<std::size_t>(rank)] = true;
    const auto [at, added] = machines.try_emplace(host.hello.machine, out.hosts.size());
    if (added)
      out.hosts.push_back(std::move(host));
    else
      out.hosts[at->second].also.push_back(rank);
  }
  out.missing_count = std::max(0, placement_.ranks - here);
  if (one_each)
    for (int rank = 0; rank < placement_.ranks; ++rank)
      if (!came[static_cast<std::size_t>(rank)]) out.missing.push_back(rank);
  out.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  return out;
}

void Meeting::end(int status) {
  for (Guest& guest : guests_)
    if (guest.planned) guest.channel->send(End{status});
  loop_.run(Clock::now() + times_.report, [this] {
    return std::all_of(guests_.begin(), guests_.end(), [](const Guest& guest) { return guest.channel->flushed(); });
  });
}

}  // namespace topoguard::check
