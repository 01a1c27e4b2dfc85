// SPDX-License-Identifier: Apache-2.0
#include "wrap/adopted_name.h"

#include <array>
#include <cstring>

#include "core/guard.h"
#include "wrap/base_choice.h"

namespace topoguard {

const char* name_for_nccl() noexcept {
  static std::array<char, 128> kept = {};
  return guarded(kOwnName, [] {
    const std::string asked = foreign_network_asked_for();
    // NCCL's own limit for a name that it prints is far below.
    if (asked.empty() || asked.size() >= kept.size()) return kOwnName;
    std::memcpy(kept.data(), asked.c_str(), asked.size() + 1);
    return static_cast<const char*>(kept.data());
  });
}

}  // namespace topoguard
