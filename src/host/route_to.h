// SPDX-License-Identifier: Apache-2.0
// Would the kernel find a way to this address now? One RTM_GETROUTE question (`ip route get`), rtnetlink(7).
//
// Thread-safety: no shared state. Waits at most 0.5 s for an answer; the kernel gives it at once.
#pragma once

#include <optional>
#include <string>

#include "topoguard/address.h"

namespace topoguard::host {

enum class RouteAnswer : std::uint8_t { exists, none, unknown };

struct RouteQuestion {
  IpAddress to;
  std::optional<IpAddress> from;  ///< an own address: source rules are followed
  /// Leaving by this interface only; "" any. The kernel's guess that anything may be on that wire does not count: the
  /// question is for a route that matches (RTM_F_FIB_MATCH, Linux 4.13).
  std::string device;
};

/// `none` only where the kernel says that there is no route (ENETUNREACH, EHOSTUNREACH); anything else is `unknown`.
RouteAnswer ask_route(const RouteQuestion& question) noexcept;

}  // namespace topoguard::host
