// SPDX-License-Identifier: Apache-2.0
#include "record/phrases.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "nccl/common.h"
#include "record/events.h"

using namespace topoguard;
using namespace topoguard::record;

namespace {

Connection roce() {
  Connection connection;
  connection.id = 3;
  connection.transport = "IB";
  connection.device = 1;
  connection.device_name = "mlx5_0";
  connection.port = 1;
  connection.gid_index = 3;
  connection.local = "::ffff:10.0.0.1";
  connection.peer = "::ffff:10.0.0.2";
  connection.peer_detail = "NCCL 2.28.9, RoCE v2, MTU 4096";
  return connection;
}

std::string gpudirect(int pointers, const HostSnapshot& host, const char* transport = "IB") {
  Connection connection = roce();
  connection.transport = transport;
  connection.pointers = pointers;
  return gpudirect_phrase(connection, host);
}

HostSnapshot with_gpu() {
  HostSnapshot host;
  host.gpus = {Gpu{}};
  return host;
}

}  // namespace

TEST_CASE("a connection's line says device, address, peer") {
  CHECK(connection_phrase(roce()) ==
        "connection 3, sending: IB on mlx5_0:1 GID 3 (::ffff:10.0.0.1) to ::ffff:10.0.0.2 (NCCL 2.28.9, RoCE v2, MTU "
        "4096)");
  Connection bare;
  bare.id = 1;
  bare.side = Side::recv;
  bare.transport = "Socket";
  CHECK(connection_phrase(bare) == "connection 1, receiving: Socket on device -1 from a peer not known");
  bare.device_name = "eth0\n";
  CHECK(connection_phrase(bare).find('\n') == std::string::npos);
}

TEST_CASE("GPUDirect: possible by what the device takes, else the reason that the host tells") {
  auto host = with_gpu();
  CHECK(gpudirect(TGNCCL_PTR_HOST | TGNCCL_PTR_CUDA | TGNCCL_PTR_DMABUF, host) == "GPUDirect possible by DMA-BUF");
  CHECK(gpudirect(TGNCCL_PTR_HOST | TGNCCL_PTR_CUDA, host) == "GPUDirect possible by the peer-memory module");
  CHECK(gpudirect(TGNCCL_PTR_HOST, host, "Socket") == "no GPUDirect: sockets carry host memory only");
  CHECK(gpudirect(TGNCCL_PTR_HOST, host) == "no GPUDirect: the transport takes host memory only on this device");
  host.gpu_driver = {false, false};
  CHECK(gpudirect(TGNCCL_PTR_HOST, host) ==
        "no GPUDirect: the GPU driver exports no DMA-BUF and no peer-memory module (nvidia_peermem) is loaded");
  host.gpu_driver = {};
  host.system.modules = {{"mlx5_core"}};
  CHECK(gpudirect(TGNCCL_PTR_HOST, host) == "no GPUDirect: no peer-memory module (nvidia_peermem) is loaded");
  host.gpus->clear();
  CHECK(gpudirect(TGNCCL_PTR_HOST, host) == "no GPUDirect: this host has no GPU");
}

TEST_CASE("what is not known is absent from an event") {
  const auto full = nlohmann::json::parse(members(roce()).text());
  CHECK(full["gid_index"] == 3);
  CHECK(full["device_number"] == 1);
  CHECK(full["side"] == "send");
  CHECK_FALSE(full.contains("communicator"));
  const auto bare = nlohmann::json::parse(members(Connection()).text());
  for (const char* name : {"port", "gid_index", "local", "peer", "peer_detail", "communicator"})
    CHECK_FALSE(bare.contains(name));
}

TEST_CASE("durations are for people") {
  CHECK(duration_phrase(0) == "less than 0.1 ms");
  CHECK(duration_phrase(0.00042) == "0.4 ms");
  CHECK(duration_phrase(0.0123) == "12 ms");
  CHECK(duration_phrase(61.26) == "61.3 s");
}
