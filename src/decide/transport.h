// SPDX-License-Identifier: Apache-2.0
// InfiniBand/RoCE or TCP, as rows of condition and outcome.
#pragma once

#include <string>

#include "decide/hcas.h"
#include "decide/user_settings.h"
#include "topoguard/decision.h"

namespace topoguard {

struct TransportChoice {
  Transport transport = Transport::none;
  std::string rule;  ///< for --explain
  std::string why;   ///< for people
};

/// `interfaces`: some interface can be used, or the links are unknown.
TransportChoice choose_transport(const UserSettings& user, const HcaResult& hcas, bool interfaces);

}  // namespace topoguard
