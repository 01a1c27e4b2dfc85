// SPDX-License-Identifier: Apache-2.0
// Which transport a net plugin of ours wraps: what NCCL would have used without topoguard, less what the decision
// rules out. In order of preference; the first one that has devices is taken.
#pragma once

#include <string>
#include <vector>

#include "core/session.h"
#include "stock/stock_tables.h"

namespace topoguard {

enum class BaseKind : std::uint8_t { ib, socket, foreign };

struct Base {
  BaseKind kind = BaseKind::socket;
  const void* table = nullptr;    ///< of the API version that was asked for
  const void* collnet = nullptr;  ///< a foreign plugin's, of the same version; may be null
  const void* gin = nullptr;      ///< the GIN table beside it: NCCL's own with IB, a foreign plugin's
  std::string label;              ///< for people: "NCCL's own Socket transport", "/opt/.../libnccl-net.so"
};

struct BaseChoice {
  std::vector<Base> bases;
  std::string declined;     ///< why there is none
  std::string remedy;       ///< what to do about it
  std::string how;          ///< how the stock tables were found
  bool surprising = false;  ///< declining is worth a warning
};

BaseChoice choose_bases(const Session& session, const NcclObject& nccl, int api, tgnccl_logger_t logger);

/// NCCL_NET names topoguard (in any case): then an init() that declines is an error for the job.
bool nccl_net_names_us();

/// The name of somebody else's network that NCCL_NET asks for ("AWS Libfabric"); "" where it is unset, ours or NCCL's
/// own.
std::string foreign_network_asked_for();

}  // namespace topoguard
