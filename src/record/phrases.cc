// SPDX-License-Identifier: Apache-2.0
#include "record/phrases.h"

#include <fmt/format.h>

#include <algorithm>

#include "document/printable.h"
#include "nccl/common.h"

namespace topoguard::record {
namespace {

constexpr std::size_t kName = 80;

bool is_loaded(const HostSnapshot& host, std::string_view module) {
  const auto& modules = known(host.system.modules);
  return std::find(modules.begin(), modules.end(), module) != modules.end();
}

}  // namespace

std::string_view side_name(Side side) { return side == Side::send ? "send" : "recv"; }

std::string_view memory_name(Memory kind) {
  return kind == Memory::host ? "host" : kind == Memory::cuda ? "CUDA" : "DMA-BUF";
}

std::string duration_phrase(double seconds) {
  if (seconds < 0.0001) return "less than 0.1 ms";
  if (seconds < 0.01) return fmt::format("{:.1f} ms", seconds * 1000);
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1000);
  return fmt::format("{:.1f} s", seconds);
}

std::string device_phrase(const Connection& connection) {
  std::string text = connection.device_name.empty() ? fmt::format("device {}", connection.device)
                                                    : printable(connection.device_name, kName);
  if (connection.port > 0) text += fmt::format(":{}", connection.port);
  if (connection.gid_index) text += fmt::format(" GID {}", *connection.gid_index);
  if (!connection.local.empty()) text += " (" + printable(connection.local, kName) + ")";
  return text;
}

std::string connection_phrase(const Connection& connection) {
  std::string text =
      fmt::format("connection {}, {}: {} on {}", connection.id, connection.side == Side::send ? "sending" : "receiving",
                  printable(connection.transport, kName), device_phrase(connection));
  const char* direction = connection.side == Side::send ? " to " : " from ";
  text += direction + (connection.peer.empty() ? std::string("a peer not known") : printable(connection.peer, kName));
  if (!connection.peer_detail.empty()) text += " (" + printable(connection.peer_detail, 120) + ")";
  return text;
}

std::string gpudirect_phrase(const Connection& connection, const HostSnapshot& host) {
  const int pointers = connection.pointers.value_or(0);
  if ((pointers & TGNCCL_PTR_DMABUF) != 0) return "GPUDirect possible by DMA-BUF";
  if ((pointers & TGNCCL_PTR_CUDA) != 0) return "GPUDirect possible by the peer-memory module";
  if (connection.transport == "Socket") return "no GPUDirect: sockets carry host memory only";
  if (host.gpus && host.gpus->empty()) return "no GPUDirect: this host has no GPU";
  std::string why;
  if (host.gpu_driver.dmabuf && !*host.gpu_driver.dmabuf) why = "the GPU driver exports no DMA-BUF";
  const bool modules_known = host.gpu_driver.peermem || host.system.modules;
  const bool peermem =
      host.gpu_driver.peermem.value_or(is_loaded(host, "nvidia_peermem") || is_loaded(host, "nv_peer_mem"));
  if (modules_known && !peermem)
    why += std::string(why.empty() ? "" : " and ") + "no peer-memory module (nvidia_peermem) is loaded";
  if (why.empty() && connection.pointers) why = "the transport takes host memory only on this device";
  return why.empty() ? "GPUDirect not known" : "no GPUDirect: " + why;
}

}  // namespace topoguard::record
