// SPDX-License-Identifier: Apache-2.0
// Addresses of other ranks' hosts: MASTER_ADDR. Numeric text counts at once; a name is looked up in the hosts file
// (hosts(5)). Only the tool asks the resolver: it can block for many seconds where DNS does not answer, and reads files
// through plugins. Loopback is nobody else's address and is left out.
#pragma once

#include <string>
#include <vector>

#include "host/sources.h"
#include "topoguard/snapshot.h"

namespace topoguard::host {

/// Fills out.peers from `given` and out.env, each address once, in that order.
void read_peers(const Sources& sources, const std::vector<IpAddress>& given, bool may_resolve, HostSnapshot& out);

/// All addresses of a name (compared without case) in a hosts file's text.
std::vector<IpAddress> hosts_lookup(const std::string& hosts, const std::string& name);

/// By the system's resolver, which may take seconds: best first, each once; empty where the name is not known.
std::vector<IpAddress> resolve(const std::string& name);

}  // namespace topoguard::host
