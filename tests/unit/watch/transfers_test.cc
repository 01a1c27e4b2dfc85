// SPDX-License-Identifier: Apache-2.0
#include "watch/transfers.h"

#include <catch2/catch.hpp>
#include <memory>

#include "watch/waiting_text.h"

using namespace topoguard::watch;

namespace {

alignas(64) const char memory[4][512] = {};
const void* const comm = memory[0];
const void* const other = memory[1];
const void* const request = memory[2];
const void* const second = memory[2] + 256;

// How many unsuccessful polls until a look at the clock is due.
int polls_to_look(Transfers& transfers, const void* of) {
  for (int polls = 1; polls < 100000; ++polls)
    if (transfers.unfinished(of)) return polls;
  return -1;
}

}  // namespace

TEST_CASE("operations and bytes of one connection; a receive's when it is finished") {
  const auto transfers = std::make_unique<Transfers>();
  transfers->open(comm);
  transfers->started(comm, request, 100, 0);
  const int sent[] = {100};
  transfers->finished(request, sent);
  transfers->started(comm, request, 0, 2);
  const int received[] = {7, 5};
  transfers->finished(request, received);
  transfers->finished(request, received);      // nobody's request
  transfers->started(other, second, 1000, 0);  // a connection that nobody opened
  const auto sum = transfers->close(comm);
  REQUIRE(sum);
  CHECK(sum->operations == 2);
  CHECK(sum->bytes == 112);
  CHECK(!transfers->close(comm));
  CHECK(!transfers->close(other));
}

TEST_CASE("a request in flight is stalled from its first look on") {
  const auto transfers = std::make_unique<Transfers>();
  transfers->open(comm);
  transfers->started(comm, request, 1, 0);
  const int polls = polls_to_look(*transfers, request);
  CHECK(polls > 100);
  CHECK(polls < 10000);
  CHECK(transfers->look(request, 50, 10).empty());
  CHECK(transfers->look(request, 59, 10).empty());
  transfers->started(comm, second, 1, 0);
  transfers->look(second, 49.5, 10);
  const auto stalled = transfers->look(request, 61, 10);
  REQUIRE(stalled.size() == 1);
  CHECK(stalled[0].comm == comm);
  CHECK(stalled[0].requests == 2);
  CHECK(stalled[0].longest == Approx(11.5));
  transfers->finished(request, nullptr);
  CHECK(transfers->look(request, 80, 10).empty());
  // The same memory for the next request: its time starts anew.
  transfers->started(comm, request, 1, 0);
  CHECK(transfers->look(request, 90, 10).empty());
  transfers->close(comm);
  CHECK(transfers->look(request, 500, 10).empty());
}

TEST_CASE("more connections than there is room for: the rest goes uncounted") {
  const auto transfers = std::make_unique<Transfers>();
  std::vector<char> many(6000 * 16);
  for (std::size_t i = 0; i < 6000; ++i) transfers->open(&many[i * 16]);
  int counted = 0;
  for (std::size_t i = 0; i < 6000; ++i) {
    transfers->started(&many[i * 16], request, 1, 0);
    counted += transfers->close(&many[i * 16]).has_value();
  }
  CHECK(counted > 3000);
  CHECK(counted <= 4096);
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
