// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

#include "bench/measure.h"
#include "bench/report.h"
#include "bench/runner.h"
#include "check/frame.h"
#include "memory_net.h"

using namespace topoguard::bench;
using Catch::Matchers::Contains;

namespace {

template <typename Table>
Nets nets(int count = 1) {
  Nets out;
  for (int i = 0; i < count; ++i)
    out.push_back(open_table(memory_net::Net<Table>::table(), topoguard::Api<Table>::kVersion, nullptr));
  return out;
}

Plan plan(Traffic traffic, std::size_t size, std::uint64_t messages, int connections = 1) {
  Plan out;
  out.traffic = traffic;
  out.size = size;
  out.messages = messages;
  out.connections = connections;
  return out;
}

std::string free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  REQUIRE(bind(fd, reinterpret_cast<sockaddr*>(&address), length) == 0);
  REQUIRE(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0);
  close(fd);
  return "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

}  // namespace

TEMPLATE_TEST_CASE("streams and ping-pongs move what they say and close what they open", "", tgnccl_net_v8_t,
                   tgnccl_net_v11_t, tgnccl_net_v12_t) {
  auto all = nets<TestType>();
  const auto runner = run_here(all);
  memory_net::behaviour.polls_to_connect = 5;
  CHECK(all[0]->devices().size() == 2);
  CHECK(all[0]->name() == "Memory");

  const Sample stream = runner->run(0, plan(Traffic::stream, 4096, 1003, 3));
  CHECK(stream.messages == 1003);
  CHECK(stream.bytes == 1003 * 4096);
  CHECK(stream.seconds > 0);
  CHECK(stream.round_trips.empty());

  // Larger than one batch, so that numbers and places go on in the next.
  const Plan large = plan(Traffic::stream, 1 << 20, 150, 2);
  CHECK(batch_of(large) == 64);
  CHECK(runner->run(0, large).messages == 150);

  const Sample ping = runner->run(0, plan(Traffic::ping_pong, 8, 200));
  CHECK(ping.round_trips.size() == 200);
  CHECK(ping.bytes == 200 * 8);
  CHECK(runner->run(0, plan(Traffic::ping_pong, 1 << 20, 100)).round_trips.size() == 100);
  CHECK(memory_net::behaviour.open == 0);
}

TEST_CASE("a wrong byte, a short message and a failing call end a sample with a sentence") {
  auto all = nets<tgnccl_net_v11_t>();
  const auto runner = run_here(all);
  SECTION("a bit that was turned") {
    memory_net::behaviour.corrupt_message = 70;
    CHECK_THROWS_WITH(runner->run(0, plan(Traffic::stream, 64, 100)), Contains("wrong byte at 32 of 64"));
  }
  SECTION("in a ping-pong") {
    memory_net::behaviour.corrupt_message = 71;
    CHECK_THROWS_WITH(runner->run(0, plan(Traffic::ping_pong, 64, 100)), Contains("wrong byte at 32 of 64"));
  }
  SECTION("a message that comes short") {
    memory_net::behaviour.lose_byte_of = 50;
    CHECK_THROWS_WITH(runner->run(0, plan(Traffic::stream, 64, 100)), Contains("63 bytes moved of 64"));
  }
  SECTION("no CUDA driver") {
    memory_net::behaviour.result = tgnccl_unhandled_cuda_error;
    CHECK_THROWS_WITH(runner->run(0, plan(Traffic::stream, 64, 100)), Contains("needs") || Contains("NVIDIA driver"));
  }
  SECTION("CUDA memory over a transport that takes none") {
    Plan cuda = plan(Traffic::stream, 64, 100);
    cuda.memory = "cuda";
    CHECK_THROWS_WITH(runner->run(0, cuda), Contains("takes no CUDA memory"));
  }
  SECTION("a device that is not there") {
    Plan far = plan(Traffic::stream, 64, 100);
    far.device = 2;
    CHECK_THROWS_WITH(runner->run(0, far), Contains("there is no device 2"));
  }
  CHECK(memory_net::behaviour.open == 0);
}

TEST_CASE("two ends that speak over a wire measure the same work") {
  auto ours = nets<tgnccl_net_v11_t>(), theirs = nets<tgnccl_net_v11_t>();
  const std::string where = free_port();
  std::thread other([&] { serve(theirs, Wire::listen(where, 60)); });
  {
    const auto runner = run_with(ours, Wire::connect(where, 60));
    const Sample stream = runner->run(0, plan(Traffic::stream, 1 << 20, 150, 2));
    CHECK(stream.messages == 150);
    CHECK(stream.seconds > 0);
    const Sample ping = runner->run(0, plan(Traffic::ping_pong, 8, 50));
    CHECK(ping.round_trips.size() == 50);
  }
  other.join();
  CHECK(memory_net::behaviour.open == 0);
}

TEST_CASE("what the other end finds wrong is said by both") {
  auto ours = nets<tgnccl_net_v11_t>(), theirs = nets<tgnccl_net_v11_t>();
  const std::string where = free_port();
  std::string there;
  std::thread other([&] {
    try {
      serve(theirs, Wire::listen(where, 60));
    } catch (const std::exception& error) {
      there = error.what();
    }
  });
  const auto runner = run_with(ours, Wire::connect(where, 60));
  memory_net::behaviour.corrupt_message = 70;
  CHECK_THROWS_WITH(runner->run(0, plan(Traffic::stream, 64, 100)),
                    Contains("the other side: ") && Contains("wrong byte"));
  other.join();
  CHECK_THAT(there, Contains("wrong byte"));
}

TEST_CASE("a stranger on the wire is told from topoguard bench") {
  const std::string where = free_port();
  const std::string said = GENERATE(as<std::string>(), "GET / HTTP/1.0\r\n\r\n", topoguard::check::frame("[1]"),
                                    topoguard::check::frame("{\"plan\": 7}"), topoguard::check::frame("nothing"), "");
  auto all = nets<tgnccl_net_v11_t>();
  std::thread stranger([&] {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(where.substr(where.find(':') + 1))));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    while (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) usleep(10'000);
    if (!said.empty()) CHECK(send(fd, said.data(), said.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(said.size()));
    shutdown(fd, SHUT_WR);
    char rest[256];
    while (recv(fd, rest, sizeof rest, 0) > 0) {
    }
    close(fd);
  });
  CHECK_THROWS(serve(all, Wire::listen(where, 60)));
  stranger.join();
}

TEST_CASE("A against B has a ratio of each round and a control of A with itself") {
  auto all = nets<tgnccl_net_v11_t>(2);
  const auto runner = run_here(all);
  Request request;
  request.sizes = {8, 65536};
  request.compare = true;
  request.rounds = 7;
  request.bytes = 1 << 20;
  request.round_trips = 20;
  std::vector<std::string> said;
  const auto rows = measure(*runner, request, [&](const std::string& what) { said.push_back(what); });
  REQUIRE(rows.size() == 4);
  CHECK(said ==
        std::vector<std::string>{"ping-pong of 8 B", "ping-pong of 64 KiB", "stream of 8 B", "stream of 64 KiB"});
  for (const Row& row : rows) {
    REQUIRE(row.b);
    CHECK(row.ratio.count == 7);
    CHECK(row.control.count == 7);
    CHECK(row.ratio.median > 0);
    CHECK(row.a.round_trips.size() == (row.traffic == Traffic::ping_pong ? 5 : 0));
  }
  Result result;
  result.request = request;
  result.rows = rows;
  result.same_functions = all[0]->data_slots() == all[1]->data_slots();
  result.nets = {{"Socket", "Memory", 11, all[0]->devices()}, {"topoguard", "Memory", 11, all[1]->devices()}};
  CHECK_THAT(bench_text(result), Contains("time B/A") && Contains("are A's own functions") && Contains("mem0, mem1"));
  const auto document = nlohmann::json::parse(bench_json(result));
  CHECK(document.at("rows").size() == 4);
  CHECK(document.at("rows")[0].at("time_b_over_a").at("samples") == 7);
  CHECK(document.at("same_functions") == true);
}
