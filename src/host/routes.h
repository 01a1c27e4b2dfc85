// SPDX-License-Identifier: Apache-2.0
// Routes from rtnetlink as `ip -j route` and `ip -6 -j route` print them: the main table of both families, and the
// table of each VRF among HostSnapshot::links (those carry the table's number in Route::table).
//
// At most kRouteLimit routes are taken per table. A host with a full BGP table has 10^6 of them, and reading those
// costs seconds: beyond the limit the kernel's own (connected) routes are asked for once more by protocol, and a note
// says so.
#pragma once

#include <cstddef>

#include "host/sources.h"
#include "topoguard/snapshot.h"

namespace topoguard::host {

constexpr std::size_t kRouteLimit = 16384;
constexpr std::size_t kVrfLimit = 64;  ///< VRF tables looked at

/// Uses out.links, so read_links comes first. Leaves out.routes empty where both families fail.
void read_routes(const Sources& sources, HostSnapshot& out);

}  // namespace topoguard::host
