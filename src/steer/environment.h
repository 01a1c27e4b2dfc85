// SPDX-License-Identifier: Apache-2.0
// Variables for a process that may be full of threads: one new environ array with everything in it, published by one
// store and never freed, so that a getenv() in another thread keeps reading the old one or reads the new one.
// Repeated setenv() moves and frees under their feet (docs/field-notes: 151 of 300 runs crashed).
//
// Thread-safety: callers are serialised by src/core (once per process). A setenv() that another thread makes at the
// very same moment can be lost, as with two setenv() calls of one name.
#pragma once

#include <map>
#include <set>
#include <string>

namespace topoguard {

/// Sets `additions` (overwriting) and takes `removals` away. False where memory ran out: then nothing has changed.
/// Does nothing at all where both are empty.
bool publish_environment(const std::map<std::string, std::string>& additions,
                         const std::set<std::string>& removals) noexcept;

}  // namespace topoguard
