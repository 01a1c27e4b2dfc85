// SPDX-License-Identifier: Apache-2.0
// Which of the usable interfaces carry the bootstrap and, where there is no RDMA, the data.
#pragma once

#include "decide/interfaces.h"
#include "decide/user_settings.h"
#include "topoguard/decision.h"

namespace topoguard {

/// With Transport::ib one interface, the bootstrap's; with Transport::socket those that carry the data. The user's own
/// list is obeyed as NCCL reads it. Sets the verdicts in `interfaces` and adds to its trace.
SocketChoice choose_sockets(const View& view, const UserSettings& user, Transport transport, Interfaces& interfaces);

/// Whether a peer is known beyond MASTER_ADDR, which usually sits on a management network.
bool knows_peers(const View& view);

/// Mb/s by which interfaces are compared: what NCCL reckons with, 10,000 where the driver does not tell; 100 where it
/// does not and the device is wireless or behind USB.
std::int64_t reckoned_speed(const View& view, const Link& link);

}  // namespace topoguard
