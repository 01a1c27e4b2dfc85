// SPDX-License-Identifier: Apache-2.0
// Whether a peer fits, at the first poll of a connection: its trailer against this end, and a route to it. What does
// not fit is said here: an error for each connection, a warning once per process for each code, device and peer.
//
// Thread-safety: both functions may be called from any thread.
#pragma once

#include <optional>
#include <string>

#include "wrap/seat.h"

namespace topoguard {

/// A route that is missing at the first poll is asked for again after so many seconds, before it counts.
inline constexpr double kRouteAgain = 0.6;

struct PeerVerdict {
  bool refuse = false;
  bool ask_again = false;  ///< the kernel has no route now
  std::string trouble;     ///< the worst difference, for later lines; "" none
};

/// `peer` null: it sent no trailer. `socket`: where the transport connects to, if that is known.
PeerVerdict check_peer(const Seat& seat, const watch::OwnEnd& own, const watch::Trailer* peer,
                       const std::optional<watch::SocketAddress>& socket);

/// After kRouteAgain: the trouble, said as an error, where there still is no route and the connection must end.
std::optional<std::string> still_no_route(const Seat& seat, const watch::OwnEnd& own, const watch::Trailer* peer,
                                          const std::optional<watch::SocketAddress>& socket);

}  // namespace topoguard
