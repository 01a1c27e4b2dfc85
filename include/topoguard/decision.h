// SPDX-License-Identifier: Apache-2.0
// What should happen on one host: the C++ form of the document topoguard.decision/1 (docs/host-snapshot.md).
// The decision is the effective outcome, the user's own settings included. Plain values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "topoguard/address.h"
#include "topoguard/snapshot.h"

namespace topoguard {

enum class Transport : std::uint8_t { none, socket, ib };
std::string_view transport_name(Transport transport);  ///< "none", "Socket", "IB"

struct SocketChoice {
  std::vector<std::string> ifnames;  ///< bootstrap and, with Transport::socket, data; best first
  std::optional<Family> family;
  std::map<std::string, IpAddress> addresses;  ///< the address meant on each
};

struct HcaChoice {
  std::string name;
  int port = 1;
  std::string link_layer;
  std::optional<int> gid_index;  ///< empty on InfiniBand link layer unless one is needed
  std::optional<Gid> gid;
  std::optional<std::string> netdev;
  std::optional<double> rate_gbps;
  std::optional<int> numa_node;
};

struct GpuChoice {
  int gpu = 0;
  std::optional<int> numa_node;
  CpuSet cpus;  ///< the GPU's CPUs that are allowed; empty = leave alone
  std::vector<std::string> nearest;
  std::optional<PathClass> path;
};

enum class Verdict : std::uint8_t { chosen, eligible, rejected };
std::string_view verdict_name(Verdict verdict);

enum class DeviceKind : std::uint8_t { netdev, hca };
std::string_view device_kind_name(DeviceKind kind);

struct DeviceVerdict {
  DeviceKind kind = DeviceKind::netdev;
  std::string name;
  Verdict verdict = Verdict::rejected;
  std::string reason;  ///< stable kebab-case identifier
  std::string detail;  ///< for people
};

enum class Severity : std::uint8_t { error, warning, info };
std::string_view severity_name(Severity severity);

struct Finding {
  Severity severity = Severity::warning;
  std::string code;    ///< stable kebab-case identifier
  std::string device;  ///< may be empty
  std::string message;
  std::string remedy;
};

/// One rule row that matched a device, in order; what decide --explain prints. Not part of the JSON document.
struct RuleMatch {
  std::string device;
  std::string rule;
  std::string effect;
};

struct Decision {
  Transport transport = Transport::none;
  SocketChoice socket;
  std::vector<HcaChoice> hcas;
  std::map<std::string, std::string> env;  ///< only what topoguard itself sets
  std::string fallback;  ///< transport Socket though RDMA hardware is there: the first broken link; "" else
  std::vector<GpuChoice> gpus;
  std::vector<DeviceVerdict> devices;  ///< every netdev and every HCA, once
  std::vector<Finding> findings;
  std::vector<RuleMatch> trace;
};

}  // namespace topoguard
