// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "scene.h"
#include "watch/trailer.h"

using namespace topoguard;
using namespace topoguard::watch;

namespace {

const unsigned char* trailer_of(const Handle& handle) { return handle.data() + kTrailerOffset; }

void listen_at(Mock& mock, const char* address, int port) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_port = htons(static_cast<std::uint16_t>(port));
  inet_pton(AF_INET, address, &in.sin_addr);
  std::memcpy(mock.connections.address, &in, sizeof in);
}

// A peer's handle with this trailer.
Handle peer_handle(const Trailer* trailer) {
  Handle handle = loopback_handle();
  if (trailer != nullptr) {
    const auto bytes = encode(*trailer);
    std::memcpy(handle.data() + kTrailerOffset, bytes.data(), bytes.size());
  }
  return handle;
}

Trailer fitting_peer() {
  Trailer peer;
  peer.carrier = Carrier::socket;
  peer.link_layer = LinkLayer::ethernet;
  peer.address = *Gid::parse("::ffff:127.0.0.1");
  peer.nccl_release = 22809;
  return peer;
}

// listen, accept and connect of every version; what the peer would get.
template <typename Table>
void trailers(Table& exported, const char* release) {
  INFO("v" << Api<Table>::kVersion);
  const Child child = in_child([&] {
    LoadedMock nccl(release);
    Scene scene;
    void *context = nullptr, *listener = nullptr, *comm = nullptr;
    EXPECT(call_init(exported, nccl.logger, &context) == tgnccl_success);
    listen_at(*nccl.mock, "10.22.0.1", 4000);
    nccl.mock->connections.handle_bytes = 0;
    Handle handle;
    handle.fill(0x5A);  // uninitialised stack, as 2.20 to 2.23 hand it in
    EXPECT(call_listen(exported, context, handle.data(), &listener) == tgnccl_success);
    Trailer sent;
    EXPECT(decode(trailer_of(handle), sent) == Found::trailer);
    EXPECT(sent.carrier == Carrier::socket);
    EXPECT(sent.address.text() == "::ffff:10.22.0.1");
    EXPECT(sent.nccl_release == nccl.mock->version_code);
    EXPECT(sent.speed_100mbps == 100);
    for (std::size_t i = 28; i < kTrailerOffset; ++i) EXPECT(handle[i] == 0x5A);

    nccl.mock->connections.accept_polls = 2;
    EXPECT(call_accept(exported, listener, &comm) == tgnccl_success && comm == nullptr);
    EXPECT(call_accept(exported, listener, &comm) == tgnccl_success && comm == nullptr);
    EXPECT(call_accept(exported, listener, &comm) == tgnccl_success && comm == &nccl.mock->socket);
    EXPECT(exported.close_listen(listener) == tgnccl_success);
    EXPECT(exported.close_recv(comm) == tgnccl_success);

    nccl.mock->connections.connect_polls = 1;
    Handle peer = peer_handle(nullptr);
    EXPECT(call_connect(exported, context, peer.data(), &comm) == tgnccl_success && comm == nullptr);
    EXPECT(call_connect(exported, context, peer.data(), &comm) == tgnccl_success && comm == nccl.mock);
    EXPECT(nccl.mock->socket.last_handle == peer.data());
    void* memory = nullptr;
    EXPECT(exported.reg_mr(comm, peer.data(), 128, TGNCCL_PTR_HOST, &memory) == tgnccl_success);
    EXPECT(exported.close_send(comm) == tgnccl_success);
    EXPECT(nccl.mock->connections.closes == 2 && nccl.mock->connections.closed_listeners == 1);
  });
  CHECK_CHILD(child);
  CHECK(child.err == "");
}

// A scenario with one communicator over the mock's Socket transport of NCCL 2.28.9.
Child with_v11(const std::function<void(LoadedMock& nccl, Scene& scene, void* context)>& scenario) {
  return in_child([&] {
    LoadedMock nccl("2.28");
    Scene scene;
    void* context = nullptr;
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger, &context) == tgnccl_success);
    scenario(nccl, scene, context);
  });
}

}  // namespace

TEST_CASE("v6: a connection from listen to close") { trailers(ncclNetPlugin_v6, "2.18"); }
TEST_CASE("v7: a connection from listen to close") { trailers(ncclNetPlugin_v7, "2.19"); }
TEST_CASE("v8: a connection from listen to close") { trailers(ncclNetPlugin_v8, "2.22"); }
TEST_CASE("v9: a connection from listen to close") { trailers(ncclNetPlugin_v9, "2.24"); }
TEST_CASE("v10: a connection from listen to close") { trailers(ncclNetPlugin_v10, "2.26"); }
TEST_CASE("v11: a connection from listen to close") { trailers(ncclNetPlugin_v11, "2.28"); }
TEST_CASE("v12: a connection from listen to close") { trailers(ncclNetPlugin_v12, "2.30"); }

TEST_CASE("a transport that uses the trailer's bytes keeps every one of them") {
  for (const int used : {97, 112, 127, 128}) {
    const Child child = with_v11([used](LoadedMock& nccl, Scene&, void* context) {
      nccl.mock->connections.handle_bytes = used;
      Handle handle{};
      void* comm = nullptr;
      EXPECT(call_listen(ncclNetPlugin_v11, context, handle.data(), &comm) == tgnccl_success);
      for (int i = 0; i < used; ++i) EXPECT(handle[static_cast<std::size_t>(i)] == 0xEE);
      Trailer trailer;
      EXPECT(decode(trailer_of(handle), trailer) == Found::nothing);
    });
    CHECK_CHILD(child);
  }
  const Child child = with_v11([](LoadedMock& nccl, Scene&, void* context) {
    nccl.mock->connections.handle_bytes = 96;
    Handle handle{};
    void* comm = nullptr;
    EXPECT(call_listen(ncclNetPlugin_v11, context, handle.data(), &comm) == tgnccl_success);
    Trailer trailer;
    EXPECT(decode(trailer_of(handle), trailer) == Found::trailer);
  });
  CHECK_CHILD(child);
}

TEST_CASE("zeros, garbage, another version: no error, no word, and the transport sees the handle as it came") {
  Trailer fits = fitting_peer();
  Handle garbage = peer_handle(nullptr), damaged = peer_handle(&fits), older = peer_handle(&fits);
  for (std::size_t i = kTrailerOffset; i < 128; ++i) garbage[i] = static_cast<unsigned char>(i * 7);
  damaged[110] ^= 1;
  older[kTrailerOffset + 2] = 0;
  for (Handle handle : {peer_handle(nullptr), garbage, damaged, older, peer_handle(&fits)}) {
    const Child child = with_v11([&](LoadedMock& nccl, Scene&, void* context) {
      void* comm = nullptr;
      const Handle before = handle;
      EXPECT(call_connect(ncclNetPlugin_v11, context, handle.data(), &comm) == tgnccl_success);
      EXPECT(comm == nccl.mock);
      EXPECT(std::memcmp(nccl.mock->connections.seen, before.data(), before.size()) == 0);
      EXPECT(handle == before);
    });
    CHECK_CHILD(child);
    CHECK(child.err == "");
  }
}

TEST_CASE("ends that can never connect: an error at once, before the transport is asked") {
  for (const bool observe : {false, true}) {
    const Child child = in_child([observe] {
      LoadedMock nccl("2.28");
      Scene scene;
      if (observe) {
        setenv("TOPOGUARD_MODE", "observe", 1);
        setenv("NCCL_NET", "topoguard", 1);  // else observe declines and NCCL goes on alone
      }
      void *context = nullptr, *comm = nullptr;
      EXPECT(call_init(ncclNetPlugin_v11, nccl.logger, &context) == tgnccl_success);
      Trailer peer = fitting_peer();
      peer.carrier = Carrier::ib;
      Handle handle = peer_handle(&peer);
      const auto result = call_connect(ncclNetPlugin_v11, context, handle.data(), &comm);
      EXPECT(result == (observe ? tgnccl_success : tgnccl_system_error));
      EXPECT(nccl.mock->socket.connects == (observe ? 1 : 0));
      // Observed, nothing is written either.
      Handle own{};
      EXPECT(call_listen(ncclNetPlugin_v11, context, own.data(), &comm) == tgnccl_success);
      Trailer sent;
      EXPECT(decode(trailer_of(own), sent) == (observe ? Found::nothing : Found::trailer));
      EXPECT(!observe || own == Handle{});
    });
    CHECK_CHILD(child);
    CHECK(has(child.err, observe ? "topoguard warning [transport-mismatch]" : "topoguard error [transport-mismatch]"));
    CHECK(
        has(child.err, "eth0 here and the peer at ::ffff:127.0.0.1: this end uses TCP (Socket), the other RDMA (IB)"));
  }
}

TEST_CASE("a difference that does not stop the job: one warning per code, device and peer") {
  const Child child = with_v11([](LoadedMock& nccl, Scene&, void* context) {
    Trailer peer = fitting_peer();
    peer.nccl_release = 22703;
    for (int i = 0; i < 5; ++i) {
      void* comm = nullptr;
      Handle handle = peer_handle(&peer);
      handle[2] = static_cast<unsigned char>(i + 1);  // another port each
      EXPECT(call_connect(ncclNetPlugin_v11, context, handle.data(), &comm) == tgnccl_success && comm == nccl.mock);
      ncclNetPlugin_v11.close_send(comm);
    }
  });
  CHECK_CHILD(child);
  CHECK(has(child.err, "[nccl-version-mismatch]"));
  CHECK(child.err.find("nccl-version-mismatch") == child.err.rfind("nccl-version-mismatch"));
}

TEST_CASE("no route: an error after a second look, within a second; nothing where one is there") {
  // A network namespace of its own has no route at all.
  const Child child = in_child([] {
    LoadedMock nccl("2.28");
    Scene scene;
    if (unshare(CLONE_NEWNET) != 0) {
      std::fprintf(stderr, "SKIP");
      return;
    }
    void *context = nullptr, *comm = nullptr;
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger, &context) == tgnccl_success);
    nccl.mock->connections.connect_polls = -1;
    Handle handle = peer_handle(nullptr);
    handle[4] = 10, handle[5] = 99, handle[6] = 0, handle[7] = 2;
    const auto began = std::chrono::steady_clock::now();
    tgnccl_result_t result = tgnccl_success;
    while (result == tgnccl_success && std::chrono::steady_clock::now() - began < std::chrono::seconds(30)) {
      result = call_connect(ncclNetPlugin_v11, context, handle.data(), &comm);
      usleep(1000);
    }
    EXPECT(result == tgnccl_system_error);
    // It may have come up by itself before the second look.
    EXPECT(nccl.mock->socket.connects > 1);
  });
  if (child.err == "SKIP") {
    WARN("no network namespaces here");
    return;
  }
  CHECK_CHILD(child);
  CHECK(has(child.err,
            "topoguard error [peer-unreachable]: eth0 here and the peer at 10.99.0.2: this host has no route"));
}

TEST_CASE("what waits is explained, and ended where a limit is set") {
  const Child child = in_child([] {
    LoadedMock nccl("2.28");
    Scene scene;
    setenv("TOPOGUARD_CONNECT_WARN_S", "1", 1);
    setenv("TOPOGUARD_CONNECT_TIMEOUT_S", "3", 1);
    void *context = nullptr, *comm = nullptr, *listener = nullptr, *received = nullptr;
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger, &context) == tgnccl_success);
    listen_at(*nccl.mock, "10.22.0.1", 4000);
    nccl.mock->connections.connect_polls = nccl.mock->connections.accept_polls = -1;
    Handle handle = peer_handle(nullptr), own{};
    EXPECT(call_listen(ncclNetPlugin_v11, context, own.data(), &listener) == tgnccl_success);
    tgnccl_result_t result = tgnccl_success;
    for (int i = 0; i < 30000 && result == tgnccl_success; ++i) {
      result = call_connect(ncclNetPlugin_v11, context, handle.data(), &comm);
      EXPECT(call_accept(ncclNetPlugin_v11, listener, &received) == tgnccl_success || i > 100);
      usleep(1000);
    }
    EXPECT(result == tgnccl_system_error);
    // The same memory again is a new connection.
    EXPECT(call_connect(ncclNetPlugin_v11, context, handle.data(), &comm) == tgnccl_success);
  });
  CHECK_CHILD(child);
  CHECK(has(child.err, "[connection-waiting]: 2 connections of this process are not up after 1 s: to 127.0.0.1:4000"));
  CHECK(has(child.err, "from a peer that should connect to 10.22.0.1:4000"));
  CHECK(has(child.err, "topoguard error [connection-timeout]"));
}

TEST_CASE("off: the transport's own handle, no word, no limit") {
  const Child child = in_child([] {
    LoadedMock nccl("2.28");
    Scene scene;
    setenv("TOPOGUARD_MODE", "off", 1);
    setenv("NCCL_NET", "topoguard", 1);
    setenv("TOPOGUARD_STALL_WARN_S", "1", 1);
    void *context = nullptr, *comm = nullptr;
    EXPECT(call_init(ncclNetPlugin_v11, nccl.logger, &context) == tgnccl_success);
    Handle handle;
    handle.fill(0x5A);
    const Handle before = handle;
    EXPECT(call_listen(ncclNetPlugin_v11, context, handle.data(), &comm) == tgnccl_success);
    EXPECT(handle == before);
    Trailer peer = fitting_peer();
    peer.carrier = Carrier::ib;
    Handle other = peer_handle(&peer);
    EXPECT(call_connect(ncclNetPlugin_v11, context, other.data(), &comm) == tgnccl_success);
    EXPECT(ncclNetPlugin_v11.isend == static_cast<const tgnccl_net_v11_t*>(nccl.mock->socket_table)->isend);
  });
  CHECK_CHILD(child);
  CHECK(child.err == "");
}

TEST_CASE("connections from many threads at once") {
  const Child child = with_v11([](LoadedMock& nccl, Scene&, void* context) {
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    Trailer peer = fitting_peer();
    peer.mtu = 9000;
    for (int t = 0; t < 16; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 200; ++i) {
          Handle own{}, handle = peer_handle(i % 2 == 0 ? &peer : nullptr);
          void *listener = nullptr, *comm = nullptr;
          wrong += call_listen(ncclNetPlugin_v11, context, own.data(), &listener) != tgnccl_success;
          Trailer sent;
          wrong += decode(trailer_of(own), sent) != Found::trailer;
          wrong += call_accept(ncclNetPlugin_v11, listener, &comm) != tgnccl_success;
          wrong += call_connect(ncclNetPlugin_v11, context, handle.data(), &comm) != tgnccl_success || comm == nullptr;
          wrong += ncclNetPlugin_v11.close_listen(listener) != tgnccl_success;
          wrong += ncclNetPlugin_v11.close_send(comm) != tgnccl_success;
        }
      });
    for (auto& thread : threads) thread.join();
    EXPECT(wrong == 0);
    EXPECT(nccl.mock->socket.listens > 0);
  });
  CHECK_CHILD(child);
}
