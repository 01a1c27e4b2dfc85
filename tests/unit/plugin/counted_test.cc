// SPDX-License-Identifier: Apache-2.0
// TOPOGUARD_STALL_WARN_S: slots that count. The mock leaves request, done and sizes as they are.
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>

#include "scene.h"

using namespace topoguard;

namespace {

constexpr auto& kNet = ncclNetPlugin_v11;

// One accepted connection of a process that counts.
void* receiving_end(LoadedMock& nccl, const char* stall_warn_s) {
  setenv("TOPOGUARD_STALL_WARN_S", stall_warn_s, 1);
  void *context = nullptr, *comm = nullptr, *listener = nullptr;
  EXPECT(call_init(kNet, nccl.logger, &context) == tgnccl_success);
  Handle handle{};
  EXPECT(call_listen(kNet, context, handle.data(), &listener) == tgnccl_success);
  EXPECT(call_accept(kNet, listener, &comm) == tgnccl_success && comm != nullptr);
  return comm;
}

void receive(void* comm, int pieces, void* request) {
  std::array<std::size_t, 2> room{10, 10};
  EXPECT(kNet.irecv(comm, pieces, nullptr, room.data(), nullptr, nullptr, nullptr, &request) == tgnccl_success);
}

// As NCCL does: again and again, here for three seconds.
void poll(void* request) {
  int done = 0;
  std::array<int, 2> sizes{};
  for (int i = 0; i < 300000; ++i) {
    kNet.test(request, &done, sizes.data());
    if (i % 1000 == 0) usleep(10000);
  }
}

std::string text_of(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a send that is never done is explained") {
  const Child child = in_child([] {
    LoadedMock nccl("2.28");
    Scene scene;
    setenv("TOPOGUARD_STALL_WARN_S", "1", 1);
    void *context = nullptr, *comm = nullptr;
    EXPECT(call_init(kNet, nccl.logger, &context) == tgnccl_success);
    const auto& stock = *static_cast<const tgnccl_net_v11_t*>(nccl.mock->socket_table);
    EXPECT(kNet.isend != stock.isend && kNet.irecv != stock.irecv);
    EXPECT(kNet.test != stock.test && kNet.iflush != stock.iflush);
    Handle handle = loopback_handle();
    EXPECT(call_connect(kNet, context, handle.data(), &comm) == tgnccl_success);
    int place = 0, done = 1;
    void* request = &place;
    EXPECT(kNet.isend(comm, nullptr, 10, 0, nullptr, nullptr, &request) == tgnccl_success);
    poll(request);
    EXPECT(kNet.test(request, &done, nullptr) == tgnccl_success);
    EXPECT(kNet.close_send(comm) == tgnccl_success);
  });
  CHECK_CHILD(child);
  CHECK(has(child.err,
            "[transfer-stalled]: 1 transfer on 1 connection of this process made no progress for 1 s: 1 send "
            "to 127.0.0.1 over Socket on eth0"));
}

TEST_CASE("a receive that is never done is explained, in one piece and in two") {
  const int pieces = GENERATE(1, 2);
  CAPTURE(pieces);
  const Child child = in_child([&] {
    LoadedMock nccl("2.28");
    Scene scene;
    void* comm = receiving_end(nccl, "1");
    int place = 0;
    receive(comm, pieces, &place);
    poll(&place);
    EXPECT(kNet.close_recv(comm) == tgnccl_success);
  });
  CHECK_CHILD(child);
  CHECK(has(child.err,
            "[transfer-stalled]: 1 transfer on 1 connection of this process made no progress for 1 s: 1 receive"));
}

TEST_CASE("what is received counts when it is done: one piece, two, sizes that nobody asks for") {
  const std::string path = "/tmp/topoguard-counted." + std::to_string(getpid());
  const Child child = in_child([&] {
    LoadedMock nccl("2.28");
    Scene scene;
    setenv("TOPOGUARD_LOG_FILE", path.c_str(), 1);
    void* comm = receiving_end(nccl, "3600");
    std::array<int, 2> sizes{7, 500};
    int one = 0, two = 0, done = 0;
    receive(comm, 1, &one);
    EXPECT(kNet.test(&one, &done, sizes.data()) == tgnccl_success);  // not done: no bytes yet
    done = 1;
    EXPECT(kNet.test(&one, &done, sizes.data()) == tgnccl_success);
    receive(comm, 2, &two);
    EXPECT(kNet.test(&two, &done, sizes.data()) == tgnccl_success);
    receive(comm, 1, &one);
    EXPECT(kNet.test(&one, &done, nullptr) == tgnccl_success);
    EXPECT(kNet.close_recv(comm) == tgnccl_success);
  });
  CHECK_CHILD(child);
  CHECK(child.err == "");
  const std::string log = text_of(path.c_str());
  unlink(path.c_str());
  CAPTURE(log);
  CHECK(has(log, "\"operations\":3,\"bytes\":514"));
}

TEST_CASE("requests that are done are not stalled, although their memory is used again for longer") {
  const Child child = in_child([] {
    LoadedMock nccl("2.28");
    Scene scene;
    void* comm = receiving_end(nccl, "1");
    int place = 0, size = 7;
    void* request = &place;
    const auto ask = [&] {
      int done = 0;
      for (int i = 0; i < 1500; ++i) EXPECT(kNet.test(request, &done, &size) == tgnccl_success);
      done = 1;
      EXPECT(kNet.test(request, &done, &size) == tgnccl_success);
      usleep(50000);
    };
    for (int i = 0; i < 20; ++i) {
      receive(comm, 1, request);
      ask();
    }
    for (int i = 0; i < 20; ++i) {
      EXPECT(kNet.iflush(comm, 1, nullptr, &size, nullptr, &request) == tgnccl_success);
      ask();
    }
    EXPECT(kNet.close_recv(comm) == tgnccl_success);
  });
  CHECK_CHILD(child);
  CHECK(child.err == "");
}
