// SPDX-License-Identifier: Apache-2.0
// What an exported table serves at the moment, as far as connections need it. Never changed once it is in use.
#pragma once

#include <optional>
#include <string>

#include "core/session.h"
#include "watch/ends.h"

namespace topoguard {

struct DeviceAnswer {
  watch::DeviceName name;
  std::optional<int> pointers;  ///< TGNCCL_PTR_* bits
};

struct Seat {
  const Session* session = nullptr;
  tgnccl_logger_t logger = nullptr;  ///< of the NCCL that calls: it is there while it calls
  watch::Carrier carrier = watch::Carrier::unknown;
  std::string transport;  ///< "IB", "Socket", or a foreign plugin's own name
  int nccl_release = 0;
  const void* table = nullptr;
  DeviceAnswer (*ask)(const void* table, int device) = nullptr;  ///< may fail: then the name is ""

  bool operator==(const Seat&) const = default;
  Voice voice() const { return session->voice(logger); }
  /// Off means off: then nothing is looked at.
  bool watches() const { return session != nullptr && session->decided && !session->off; }
  bool counts() const { return watches() && session->policy.stall_warn_s > 0; }
};

}  // namespace topoguard
