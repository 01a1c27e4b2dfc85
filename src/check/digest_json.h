// SPDX-License-Identifier: Apache-2.0
// What the comparison keeps of a host, as JSON: the decision's fingerprint that the processes of a check exchange.
// Internal to src/check. Readers throw json::Malformed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "compare/digest.h"
#include "document/json_node.h"

namespace topoguard::check {

/// The node's text without control characters, at most `limit` bytes.
std::string short_text(const json::Node& node, std::size_t limit);

/// Prefixes beyond 512 are left out, and the way counts as unknown then.
nlohmann::ordered_json write_digest(const HostDigest& digest);
HostDigest read_digest(const json::Node& node);

}  // namespace topoguard::check
