// SPDX-License-Identifier: Apache-2.0
#include "check/member.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "check/channel.h"
#include "check/prober.h"
#include "check/resolve.h"
#include "document/printable.h"

namespace topoguard::check {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPause{150};    // between two tries to reach rank 0, which may start later
constexpr milliseconds kOneTry{1500};  // for one address to answer

// Tries rank 0's addresses in turn until one connects.
class Finder {
 public:
  Finder(Loop& loop, const Placement& placement) : loop_(loop), placement_(placement) {}

  bool find(Clock::time_point deadline) {
    while (true) {
      const auto addresses = resolve(placement_.meeting);
      if (addresses.empty()) last_ = "the name is not known here";
      for (const IpAddress& address : addresses) {
        target_ = {address, placement_.port, 0};
        if (try_once(std::min(deadline, Clock::now() + kOneTry))) return true;
        if (Clock::now() >= deadline) return false;
      }
      if (Clock::now() + kPause >= deadline) return false;
      loop_.run(Clock::now() + kPause, [] { return false; });
    }
  }

  Socket take() { return std::move(socket_); }
  const Target& target() const { return target_; }
  const std::string& last() const { return last_; }

 private:
  bool try_once(Clock::time_point until) {
    socket_ = connect_tcp(nullptr, "", target_);
    if (!socket_.fd) return failed(socket_.error);
    bool ready = false;
    const int fd = socket_.fd.get();
    loop_.watch(fd, POLLOUT, [&ready](short) { ready = true; });
    loop_.run(until, [&ready] { return ready; });
    loop_.forget(fd);
    const int error = ready ? connect_result(fd) : ETIMEDOUT;
    return error == 0 || failed(error);
  }
  bool failed(int error) {
    last_ = target_.text() + ": " + (error == ETIMEDOUT ? "no answer" : host::error_text(error));
    return false;
  }

  Loop& loop_;
  const Placement& placement_;
  Socket socket_;
  Target target_;
  std::string last_;
};

std::string whom(const Placement& placement) {
  return fmt::format("rank 0 at {}, port {} (from {})", printable(placement.meeting, 200), placement.port,
                     placement.meeting_from);
}

struct Talk {
  std::unique_ptr<Channel> channel;
  std::unique_ptr<Prober> prober;
  Clock::time_point deadline;
  MemberResult result;
  bool done = false;

  void fail(std::string error) {
    result.error = std::move(error);
    done = true;
  }
};

std::string ending_text(const Placement& placement, const Ending& ending) {
  if (ending.why == Ending::Why::other_version)
    return fmt::format(
        "{} speaks version {} of the check's protocol, this topoguard ({}) version {}. Remedy: install one release of "
        "topoguard on all hosts",
        whom(placement), ending.version, TOPOGUARD_VERSION, kProtocol);
  if (ending.why == Ending::Why::stranger)
    return fmt::format("{} is another program. Remedy: choose a free port with --port, the same on all hosts",
                       whom(placement));
  return fmt::format("{} ended the check early ({}); its own output says why", whom(placement), ending.detail);
}

}  // namespace

MemberResult take_part(Loop& loop, const Placement& placement, const Hello& own, milliseconds whole,
                       std::size_t descriptors) {
  const auto start = Clock::now();
  Finder finder(loop, placement);
  Talk talk;
  if (!finder.find(start + whole)) {
    talk.fail(fmt::format(
        "waited {:.0f} s for {} as rank {} of {}: {}. Is rank 0 running on that host, and may this host connect to "
        "that "
        "port? Remedy: start topoguard check on all hosts at once, let the port through the firewall or name another "
        "with --port, or name rank 0's address with --rendezvous",
        std::chrono::duration<double>(Clock::now() - start).count(), whom(placement), placement.rank, placement.ranks,
        printable(finder.last(), 200)));
    return talk.result;
  }
  talk.deadline = Clock::now() + whole;
  const auto on_message = [&](Message& message) {
    if (std::holds_alternative<ClockQuestion>(message)) {
      const auto now = std::chrono::system_clock::now().time_since_epoch();
      talk.channel->send(ClockAnswer{std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()});
    } else if (auto* plan = std::get_if<Plan>(&message); plan != nullptr && !talk.prober) {
      talk.deadline = Clock::now() + milliseconds(plan->budget_ms) + whole;
      talk.prober = std::make_unique<Prober>(loop, own.offers, std::move(*plan), descriptors / 4,
                                             [&](Report report) { talk.channel->send(std::move(report)); });
    } else if (const auto* end = std::get_if<End>(&message)) {
      talk.result.status = end->status;
      talk.done = true;
    } else if (const auto* refusal = std::get_if<Refusal>(&message)) {
      talk.fail(whom(placement) + " does not take this process (rank " + std::to_string(placement.rank) +
                "): " + printable(refusal->reason, 600));
    } else {
      talk.fail(whom(placement) + " sent a message that was not its turn");
    }
  };
  const auto on_ending = [&](const Ending& ending) {
    if (!talk.done) talk.fail(ending_text(placement, ending));
  };
  talk.channel = std::make_unique<Channel>(loop, finder.take(), finder.target(), kPlanLimit, on_message, on_ending);
  talk.channel->send(own);
  while (!talk.done && Clock::now() < talk.deadline) loop.run(talk.deadline, [&] { return talk.done; });
  if (!talk.done) talk.fail(whom(placement) + " does not go on: it took the connection and then said nothing in time");
  return talk.result;
}

}  // namespace topoguard::check
