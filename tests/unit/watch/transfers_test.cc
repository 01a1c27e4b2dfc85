// SPDX-License-Identifier: Apache-2.0
#include "watch/transfers.h"

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "watch/waiting_text.h"

using namespace topoguard::watch;

namespace {

alignas(64) const char memory[4][512] = {};
const void* const comm = memory[0];
const void* const other = memory[1];
const void* const request = memory[2];
const void* const second = memory[2] + 256;

// As the counting slots do it.
void send(const void* by, const void* of, std::uint64_t bytes) {
  if (!Transfers::sent(of, bytes)) Transfers::first_sent(by, of, bytes);
}
void receive(const void* by, const void* of, int pieces) {
  if (!Transfers::receiving(of, pieces)) Transfers::first_receiving(by, of, pieces);
}
void flush(const void* by, const void* of) {
  if (!Transfers::flushing(of)) Transfers::first_flushing(by, of);
}

// How many polls until a look at the clock is due.
int polls_to_look(const void* of) {
  for (int polls = 1; polls < 100000; ++polls)
    if (Transfers::slot_of(of)->polled()) return polls;
  return -1;
}

std::vector<Transfers::Stalled> look(const void* of, double now) {
  return Transfers::look(*Transfers::slot_of(of), now, 10);
}

}  // namespace

TEST_CASE("operations and bytes of one connection; a receive's when it is finished") {
  Transfers::open(comm);
  send(comm, request, 100);
  CHECK(Transfers::slot_of(request)->pieces == 0);
  receive(comm, request, 2);
  REQUIRE(Transfers::slot_of(request)->pieces == 2);
  const int received[] = {7, 5, 1000};
  Transfers::slot_of(request)->received(received, 2);
  Transfers::slot_of(request)->received(nullptr);
  receive(comm, second, 1);
  Transfers::slot_of(second)->received(received);
  flush(comm, request);  // no operation, and no receive: nobody knows its sizes
  CHECK(Transfers::slot_of(request)->pieces == 0);
  send(other, memory[3], 1000);  // a connection that nobody opened
  CHECK(Transfers::slot_of(memory[3]) == nullptr);
  const auto sum = Transfers::close(comm);
  REQUIRE(sum);
  CHECK(sum->operations == 3);
  CHECK(sum->bytes == 119);
  CHECK(Transfers::slot_of(request) == nullptr);
  CHECK(!Transfers::close(comm));
  CHECK(!Transfers::close(other));
}

TEST_CASE("the same memory in another connection starts anew") {
  Transfers::open(comm);
  send(comm, request, 100);
  Transfers::close(comm);
  Transfers::open(other);
  send(other, request, 1);
  const auto sum = Transfers::close(other);
  REQUIRE(sum);
  CHECK(sum->operations == 1);
  CHECK(sum->bytes == 1);
}

TEST_CASE("a request in flight is stalled from its first look on") {
  Transfers::open(comm);
  send(comm, request, 1);
  const int polls = polls_to_look(request);
  CHECK(polls > 100);
  CHECK(polls < 10000);
  CHECK(look(request, 50).empty());
  CHECK(look(request, 59).empty());
  send(comm, second, 1);
  CHECK(look(second, 49.5).empty());
  CHECK(look(second, 59).empty());
  const auto stalled = look(request, 61);
  REQUIRE(stalled.size() == 1);
  CHECK(stalled[0].comm == comm);
  CHECK(stalled[0].requests == 2);
  CHECK(stalled[0].longest == Approx(11.5));
  // Nobody asks for the second any more: it is done.
  const auto later = look(request, 69);
  REQUIRE(later.size() == 1);
  CHECK(later[0].requests == 1);
  // The same memory for the next request: its time starts anew, be it a send, a receive or a flush.
  send(comm, request, 1);
  CHECK(look(request, 90).empty());
  CHECK(look(request, 99).empty());
  flush(comm, request);
  CHECK(look(request, 101).empty());
  CHECK(!look(request, 112).empty());
  Transfers::close(comm);
}

TEST_CASE("a stalled request of a connection that is closed is nobody's") {
  Transfers::open(comm);
  Transfers::open(other);
  send(comm, request, 1);
  send(other, second, 1);
  for (const double now : {50.0, 61.0}) look(request, now), look(second, now);
  CHECK(look(second, 62).size() == 2);
  Transfers::close(comm);
  CHECK(look(second, 62).size() == 1);
  Transfers::close(other);
}

TEST_CASE("more connections than there is room for: the rest goes uncounted") {
  std::vector<char> many(6000 * 16);
  for (std::size_t i = 0; i < 6000; ++i) Transfers::open(&many[i * 16]);
  int counted = 0;
  for (std::size_t i = 0; i < 6000; ++i) {
    send(&many[i * 16], request, 1);
    counted += Transfers::close(&many[i * 16]).has_value();
  }
  CHECK(counted > 3000);
  CHECK(counted <= 4096);
}

TEST_CASE("requests as transports lay them out all find a slot") {
  // 256 connections, each a block of its own pages with an array of requests.
  constexpr std::size_t kBlock = 36 * 4096, kStride = 336;
  const auto blocks = std::make_unique<char[]>(256 * kBlock);
  const auto at = [&](std::size_t of, std::size_t i) { return &blocks[of * kBlock + 16 + i * kStride]; };
  std::uint64_t operations = 0;
  for (std::size_t of = 0; of < 256; ++of) Transfers::open(&blocks[of * kBlock]);
  for (std::size_t of = 0; of < 256; ++of)
    for (std::size_t i = 0; i < 16; ++i) send(&blocks[of * kBlock], at(of, i), 1);
  for (std::size_t of = 0; of < 256; ++of) operations += Transfers::close(&blocks[of * kBlock])->operations;
  CHECK(operations == 256 * 16);
}

TEST_CASE("lines about stalls: at once, then after doubling times; anew for a later trouble") {
  const auto transfers = std::make_unique<Transfers>();
  std::vector<int> times;
  for (int now = 100; now < 200; ++now)
    if (transfers->due(now, 10)) times.push_back(now);
  CHECK(times == std::vector<int>{100, 110, 130, 170});
  CHECK(transfers->due(1000, 10));
  CHECK(transfers->due(1010, 10));
}

TEST_CASE("the line about stalls") {
  StalledConnection sending;
  sending.connection.transport = "Socket";
  sending.connection.device = 0;
  sending.connection.device_name = "eth0";
  sending.connection.peer = "10.0.0.2";
  sending.requests = 3;
  sending.longest = 31;
  const auto finding = stalled_finding({sending, StalledConnection()});
  CHECK(finding.message.find("3 transfers on 2 connections of this process made no progress for 31 s: 3 sends to "
                             "10.0.0.2 over Socket on eth0") == 0);
  CHECK(finding.remedy.find("10.0.0.2") != std::string::npos);
}
