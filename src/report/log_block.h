// SPDX-License-Identifier: Apache-2.0
// What topoguard says in a communicator's log: which topoguard in which NCCL, what it decided and why. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topoguard/decision.h"
#include "topoguard/policy.h"
#include "topoguard/snapshot.h"

namespace topoguard {

/// How topoguard takes part in this communicator.
enum class Way : std::uint8_t {
  wrapped,   ///< NCCL calls its own transport through topoguard
  steering,  ///< variables are set, NCCL uses its own transport
  observe,   ///< decided and logged, nothing changed
  off,
};

struct RunFacts {
  std::string version;       ///< topoguard's
  std::string libnccl;       ///< path of the NCCL object; empty = unknown
  std::string nccl_release;  ///< "2.28.9"; empty = unknown
  std::string front_end;     ///< net, env, preload, exec, tool
  Way way = Way::wrapped;
  std::string reason;  ///< why this way where it is not the usual one: "the transport tables were not found"
};

/// Lines without line ends and without a prefix, each printable and at most 300 bytes: one header, the transport, one
/// per device (verdict and reason; devices that share kind, verdict and reason share lines from 16 devices on), what is
/// set, what TOPOGUARD_LOG asks for beyond that (report/path_lines.h), the findings.
std::vector<std::string> log_block(const HostSnapshot& host, const Policy& policy, const Decision& decision,
                                   const RunFacts& run);

/// One line for a finding: "warning gid-pin-stale mlx5_0: message; remedy".
std::string finding_line(const Finding& finding);

}  // namespace topoguard
