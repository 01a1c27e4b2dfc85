// SPDX-License-Identifier: Apache-2.0
#include "watch/waiting.h"

#include <catch2/catch.hpp>
#include <thread>

#include "watch/waiting_text.h"

using namespace topoguard;
using namespace topoguard::watch;
using record::Side;

namespace {

Waiter waiter(double since, Side side = Side::send) {
  Waiter result;
  result.connection.side = side;
  result.connection.transport = "Socket";
  result.connection.device = 0;
  result.connection.device_name = "eth0";
  result.connection.local = "10.0.0.1";
  result.carrier = Carrier::socket;
  result.netdev = "eth0";
  if (side == Side::send) {
    result.peer_socket = "10.0.0.2:4000";
    result.peer = PeerKnown::nothing;
  } else {
    result.own_socket = "10.0.0.1:5000";
  }
  result.since = result.polled = since;
  return result;
}

const int places[8] = {};
Waiting::Key key(int place, Side side = Side::send) { return {&places[place], side}; }
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Polls one waiter from `from` to `to` every second; the times at which a line was said.
std::vector<int> line_times(Waiting& waiting, int from, int to, const WaitLimits& limits) {
  std::vector<int> times;
  for (int now = from; now <= to; ++now) {
    waiting.polled(key(0), 0, now);
    if (waiting.still_waiting(key(0), now, limits).line) times.push_back(now);
  }
  return times;
}

}  // namespace

TEST_CASE("a line at the limit, then after doubling times") {
  Waiting waiting;
  waiting.add(key(0), waiter(100));
  CHECK(line_times(waiting, 100, 700, {60, 0}) == std::vector<int>{160, 220, 340, 580});
}

TEST_CASE("no limit, no line") {
  Waiting waiting;
  waiting.add(key(0), waiter(100));
  CHECK(line_times(waiting, 100, 5000, {0, 0}).empty());
}

TEST_CASE("the end of waiting is said once, where its beginning was") {
  Waiting waiting;
  waiting.add(key(0), waiter(100));
  waiting.add(key(1), waiter(101));
  CHECK(waiting.still_waiting(key(0), 110, {10, 0}).line);
  CHECK(!waiting.done(key(0), true, 112).line);
  const auto end = waiting.done(key(1), true, 121);
  REQUIRE(end.line);
  CHECK(end.line->severity == Severity::info);
  CHECK(end.line->message == "2 connections that waited are up after all, after at most 20 s");
  REQUIRE(end.waiter);
  CHECK(end.waiter->since == 101);

  waiting.add(key(0), waiter(130));
  CHECK(!waiting.done(key(0), true, 131).line);
  // A new trouble is said at its own limit, not after the pauses of the last one.
  waiting.add(key(0), waiter(140));
  CHECK(line_times(waiting, 140, 155, {10, 0}) == std::vector<int>{150});
}

TEST_CASE("what failed is not up after all") {
  Waiting waiting;
  waiting.add(key(0), waiter(100));
  CHECK(waiting.still_waiting(key(0), 110, {10, 0}).line);
  CHECK(!waiting.done(key(0), false, 111).line);
  CHECK(waiting.size() == 0);
}

TEST_CASE("the time limit ends, whether lines are said or not") {
  Waiting waiting;
  waiting.add(key(0), waiter(100));
  CHECK(!waiting.still_waiting(key(0), 104, {0, 5}).timed_out);
  CHECK(waiting.still_waiting(key(0), 105, {0, 5}).timed_out);
  CHECK(!waiting.still_waiting(key(0), 1e6, {0, 0}).timed_out);
}

TEST_CASE("memory that NCCL gave up is another connection's later") {
  Waiting waiting;
  waiting.add(key(0), waiter(100));
  CHECK(waiting.polled(key(0), 0, 130).known);
  CHECK(!waiting.polled(key(0), 0, 200).known);
  waiting.add(key(0), waiter(200));
  CHECK(!waiting.polled(key(0), 77, 201).known);  // other bytes in the same memory
  waiting.add(key(0), waiter(300));
  waiting.add(key(1), waiter(400));
  CHECK(waiting.size() == 1);  // the one nobody polls any more is forgotten
}

TEST_CASE("what nobody polls any more is in no line") {
  Waiting waiting;
  waiting.add(key(0), waiter(100));
  waiting.add(key(1), waiter(100));
  waiting.polled(key(0), 0, 130);
  const auto step = waiting.still_waiting(key(0), 130, {30, 0});
  REQUIRE(step.line);
  CHECK(has(step.line->message, "1 connection of this process is not up after 30 s"));
}

TEST_CASE("a route that was missing is asked for once more, at its time") {
  Waiting waiting;
  Waiter lost = waiter(100);
  lost.ask_route_again = 100.6;
  waiting.add(key(0), lost);
  CHECK(!waiting.polled(key(0), 0, 100.5).ask_route);
  CHECK(waiting.polled(key(0), 0, 100.7).ask_route);
  waiting.route_settled(key(0));
  CHECK(!waiting.polled(key(0), 0, 100.8).ask_route);
}

TEST_CASE("the line names three connections, both sides, the causes in order and the next command") {
  Waiter known = waiter(90);
  known.peer = PeerKnown::trailer;
  known.connection.peer = "10.0.0.2";
  known.connection.peer_detail = "NCCL 2.28.9, TCP, MTU 1500";
  known.trouble = "eth0 here and the peer at 10.0.0.2: MTU 9000 on this end, 1500 on the other";
  Waiter second = waiter(100), third = waiter(100, Side::recv), fourth = waiter(100);
  const Finding finding = waiting_finding({&known, &second, &third, &fourth}, 110);
  CHECK(finding.code == "connection-waiting");
  for (const char* part :
       {"4 connections of this process are not up after 20 s",
        "to 10.0.0.2:4000 over Socket on eth0 (10.0.0.1), for 20 s, the peer has NCCL 2.28.9, TCP, MTU 1500",
        "the peer runs without topoguard", "from a peer that should connect to 10.0.0.1:5000", "and 1 more",
        "(1) eth0 here and the peer at 10.0.0.2: MTU 9000", "(2) a firewall"}) {
    INFO(part << " in " << finding.message);
    CHECK(has(finding.message, part));
  }
  CHECK(has(finding.remedy, "nc -vz 10.0.0.2 4000"));
  CHECK(has(finding.remedy, "ping -I eth0 10.0.0.2"));

  Waiter receiver = waiter(100, Side::recv);
  const Finding receiving = waiting_finding({&receiver}, 110);
  CHECK(has(receiving.message, "(1) the rank that should connect has failed"));
  CHECK(has(receiving.remedy, "nc -vz 10.0.0.1 5000"));

  Waiter v6 = waiter(100);
  v6.peer_socket = "[fd00::2]:4000";
  CHECK(has(waiting_finding({&v6}, 110).remedy, "nc -vz fd00::2 4000"));
}

TEST_CASE("many threads") {
  Waiting waiting;
  std::vector<std::thread> threads;
  static const int own[8][200] = {};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const Waiting::Key mine{&own[t][i], i % 2 == 0 ? Side::send : Side::recv};
        waiting.add(mine, waiter(i));
        for (int poll = 0; poll < 20; ++poll) {
          waiting.polled(mine, 0, i + poll);
          waiting.still_waiting(mine, i + poll, {1, 0});
        }
        waiting.done(mine, true, i + 20);
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(waiting.size() == 0);
}
