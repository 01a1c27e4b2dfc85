// SPDX-License-Identifier: Apache-2.0
// Calls data slots of the v11 table, or the transport's own ones, a thousand times each, over a mock NCCL whose
// functions do nothing. tests/bench/instructions runs it under callgrind and takes the difference.
// Usage: instructions_probe stock|topoguard, with MOCK_DIR and, to count, TOPOGUARD_STALL_WARN_S.
#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <cstdio>

#include "../unit/plugin/scene.h"

namespace {

constexpr int kCalls = 1000;
using Net = tgnccl_net_v11_t;

struct Ends {
  void *send = nullptr, *receive = nullptr;
};

Ends connect(LoadedMock& nccl) {
  void *context = nullptr, *listener = nullptr;
  if (call_init(ncclNetPlugin_v11, nccl.logger, &context) != tgnccl_success) return {};
  std::array<unsigned char, 128> handle{}, own{};
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_port = htons(4000);
  in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::memcpy(handle.data(), &in, sizeof in);
  tgnccl_device_handle_t* offload = nullptr;
  Ends ends;
  call_connect(ncclNetPlugin_v11, context, handle.data(), &ends.send);
  call_listen(ncclNetPlugin_v11, context, own.data(), &listener);
  ncclNetPlugin_v11.accept(listener, &ends.receive, &offload);
  return ends;
}

}  // namespace

// The mock leaves request and done as they are. Sizes differ so that no two functions are one.
extern "C" {
[[gnu::noinline]] void measured_isend(const Net& net, void* comm, void* request, int calls) {
  for (int i = 0; i < calls; ++i) net.isend(comm, nullptr, 4096, 0, nullptr, nullptr, &request);
}
[[gnu::noinline]] void measured_isend_again(const Net& net, void* comm, void* request, int calls) {
  for (int i = 0; i < calls; ++i) net.isend(comm, nullptr, 512, 0, nullptr, nullptr, &request);
}
[[gnu::noinline]] void measured_irecv(const Net& net, void* comm, void* request, int calls) {
  std::size_t size = 4096;
  for (int i = 0; i < calls; ++i) net.irecv(comm, 1, nullptr, &size, nullptr, nullptr, nullptr, &request);
}
[[gnu::noinline]] void measured_iflush(const Net& net, void* comm, void* request, int calls) {
  int size = 4096;
  for (int i = 0; i < calls; ++i) net.iflush(comm, 1, nullptr, &size, nullptr, &request);
}
[[gnu::noinline]] void measured_test_send(const Net& net, void* request, int done, int calls) {
  int size = 4096;
  for (int i = 0; i < calls; ++i) net.test(request, &done, &size);
}
[[gnu::noinline]] void measured_test_receive(const Net& net, void* request, int done, int calls) {
  int size = 1024;
  for (int i = 0; i < calls; ++i) net.test(request, &done, &size);
}
[[gnu::noinline]] void measured_test_received(const Net& net, void* request, int done, int calls) {
  int size = 2048;
  for (int i = 0; i < calls; ++i) net.test(request, &done, &size);
}
}

int main(int argc, char** argv) {
  LoadedMock nccl("2.28");
  const Scene scene;
  const auto& stock = *static_cast<const Net*>(nccl.mock->socket_table);
  const Ends ends = connect(nccl);
  if (argc != 2 || ends.send == nullptr || ends.receive == nullptr) return 1;
  const Net& net = std::string(argv[1]) == "stock" ? stock : ncclNetPlugin_v11;
  std::array<long, 64> requests{};
  void *sent = &requests[0], *receiving = &requests[32];
  // A request's first call finds it a place.
  net.isend(ends.send, nullptr, 1, 0, nullptr, nullptr, &sent);
  std::size_t size = 1;
  net.irecv(ends.receive, 1, nullptr, &size, nullptr, nullptr, nullptr, &receiving);

  measured_isend(net, ends.send, sent, kCalls);
  measured_isend_again(net, ends.send, nullptr, kCalls);  // refused for now, as where the peer is not ready
  measured_test_send(net, sent, 0, kCalls);
  measured_irecv(net, ends.receive, receiving, kCalls);
  measured_test_receive(net, receiving, 0, kCalls);
  measured_test_received(net, receiving, 1, kCalls);
  measured_iflush(net, ends.receive, receiving, kCalls);
  const bool same =
      net.isend == stock.isend && net.irecv == stock.irecv && net.iflush == stock.iflush && net.test == stock.test;
  std::printf("%d %s\n", kCalls, same ? "same" : "counted");
  return 0;
}
