// SPDX-License-Identifier: Apache-2.0
// What is wrong, from all that rank 0 gathered: ranks that are missing, connections that do not come up, packets that
// get lost, clocks, and what the comparison of the hosts' decisions finds. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "check/gathered.h"
#include "topoguard/decision.h"

namespace topoguard::check {

/// Errors first. Many connections with the same trouble at one end make one finding.
std::vector<Finding> findings(const Gathered& gathered);

/// How a message calls each host: its name, with its rank where two have the same name.
std::vector<std::string> labels(const Gathered& gathered);

/// Position of the host whose process has this rank; the number of hosts where there is none.
std::size_t host_of(const Gathered& gathered, int rank);

/// nullptr where the position is out of the list: a peer may say anything.
const Offer* offer_at(const Hello& hello, int position);

/// How the connection went, for people: "no answer", "no way (No route to host)", ...
std::string reach_text(const Probe& probe);

}  // namespace topoguard::check
