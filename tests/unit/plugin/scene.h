// SPDX-License-Identifier: Apache-2.0
// What the scenarios share: parts that decide what the test says, and calls of the exported tables as NCCL makes them.
#pragma once

#include <netinet/in.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "../mock_nccl/loaded_mock.h"
#include "child.h"
#include "core/session.h"
#include "nccl/gin_v11.h"
#include "wrap/api.h"

extern "C" {
extern tgnccl_net_v6_t ncclNetPlugin_v6;
extern tgnccl_net_v7_t ncclNetPlugin_v7;
extern tgnccl_net_v8_t ncclNetPlugin_v8;
extern tgnccl_net_v9_t ncclNetPlugin_v9;
extern tgnccl_net_v10_t ncclNetPlugin_v10;
extern tgnccl_net_v11_t ncclNetPlugin_v11;
extern tgnccl_net_v12_t ncclNetPlugin_v12;
extern tgnccl_collnet_v11_t ncclCollNetPlugin_v11;
extern tgnccl_gin_v11_t ncclGinPlugin_v11;
}

struct Scene {
  topoguard::Decision decision;
  int collected = 0, decided = 0;
  topoguard::HostSnapshot seen;            ///< what decide() was given
  std::vector<topoguard::Plugin> plugins;  ///< other plugins that the host has
  int looked = 0;
  topoguard::HostSnapshot now;  ///< what a second look shows; nothing unless the test says so

  Scene() {
    for (const char* name : {"NCCL_NET", "NCCL_NET_PLUGIN", "NCCL_DEBUG", "NCCL_SOCKET_IFNAME", "NCCL_IB_HCA",
                             "LOCAL_RANK", "SLURM_LOCALID", "TOPOGUARD_MODE", "TOPOGUARD_APPLIED", "TOPOGUARD_BASE",
                             "TOPOGUARD_LOG", "TOPOGUARD_REQUIRE"})
      unsetenv(name);
    socket("eth0");
    topoguard::SessionParts parts;
    parts.sources.etc = "/nonexistent-etc";
    parts.collect = [this](const topoguard::Sources& sources, const topoguard::CollectOptions& options) {
      ++collected;
      topoguard::HostSnapshot host;
      host.nccl_version = options.nccl_version;
      if (!plugins.empty()) host.plugins = plugins;
      host.topoguard.front_end = std::string(topoguard::front_end_name(options.front_end));
      for (const auto& entry : sources.environment)
        if (entry.rfind("NCCL_", 0) == 0 || entry.rfind("TOPOGUARD_", 0) == 0)
          host.env[entry.substr(0, entry.find('='))] = entry.substr(entry.find('=') + 1);
      return host;
    };
    parts.decide = [this](const topoguard::HostSnapshot& host, const topoguard::Policy&) {
      ++decided;
      seen = host;
      return decision;
    };
    parts.drift = [this](const topoguard::Sources&) {
      ++looked;
      return now;
    };
    topoguard::replace_session_parts(parts);
  }

  void socket(const std::string& ifname) {
    decision.transport = topoguard::Transport::socket;
    decision.socket.ifnames = {ifname};
    decision.hcas.clear();
  }
  void ib(const std::string& hca) {
    decision.transport = topoguard::Transport::ib;
    decision.socket.ifnames = {"eth0"};
    decision.hcas.resize(1);
    decision.hcas[0].name = hca;
  }
};

using Handle = std::array<unsigned char, 128>;

/// A peer's handle: a loopback address, where a route always exists.
inline Handle loopback_handle() {
  Handle handle{};
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_port = htons(4000);
  in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::memcpy(handle.data(), &in, sizeof in);
  return handle;
}

/// init() of any version; the context is where v11 and later keep it.
template <typename Table>
tgnccl_result_t call_init(Table& table, tgnccl_logger_t logger, void** context = nullptr, int traffic_class = -1) {
  void* ignored = nullptr;
  tgnccl_comm_config_t config = {traffic_class};
  if constexpr (topoguard::Api<Table>::kVersion >= 11)
    return table.init(context != nullptr ? context : &ignored, 7, &config, logger, nullptr);
  else if constexpr (topoguard::Api<Table>::kVersion == 10)
    return table.init(logger, nullptr);
  else
    return table.init(logger);
}

template <typename Table>
tgnccl_result_t call_listen(Table& table, void* context, void* handle, void** comm) {
  if constexpr (topoguard::Api<Table>::kVersion >= 11)
    return table.listen(context, 0, handle, comm);
  else
    return table.listen(0, handle, comm);
}

template <typename Table>
tgnccl_result_t call_accept(Table& table, void* listen_comm, void** comm) {
  tgnccl_device_handle_t* offload = nullptr;
  if constexpr (topoguard::Api<Table>::kVersion >= 7)
    return table.accept(listen_comm, comm, &offload);
  else
    return table.accept(listen_comm, comm);
}

template <typename Table>
tgnccl_result_t call_connect(Table& table, void* context, void* handle, void** comm) {
  tgnccl_device_handle_t* offload = nullptr;
  tgnccl_comm_config_t config = {5};
  if constexpr (topoguard::Api<Table>::kVersion >= 11)
    return table.connect(context, 0, handle, comm, &offload);
  else if constexpr (topoguard::Api<Table>::kVersion == 10)
    return table.connect(0, &config, handle, comm, &offload);
  else if constexpr (topoguard::Api<Table>::kVersion >= 7)
    return table.connect(0, handle, comm, &offload);
  else
    return table.connect(0, handle, comm);
}

template <typename Table>
int device_count(Table& table) {
  int count = -77;
  return table.devices(&count) == tgnccl_success ? count : -99;
}

inline std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "(unset)";
}

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
