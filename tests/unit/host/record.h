// SPDX-License-Identifier: Apache-2.0
// Records the live kernel's rtnetlink dumps as the files that Sources::netlink replays.
#pragma once

#include <string>

namespace topoguard::test {

/// Writes link.nl, addr.nl, route4.nl and route6.nl below `directory`. Throws std::runtime_error.
void record_netlink(const std::string& directory);

}  // namespace topoguard::test
