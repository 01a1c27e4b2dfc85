// SPDX-License-Identifier: Apache-2.0
// A connection in the files: its members as a JSON event and as labels of the counters. Pure functions.
#pragma once

#include "core/journal.h"
#include "record/record.h"

namespace topoguard::record {

/// Hexadecimal, as NCCL prints it: "0x3f2a".
std::string communicator_text(std::uint64_t communicator);
/// What is known of it, nothing else: an address that is not known is absent.
journal::Event members(const Connection& connection);
/// side, transport, device
journal::Labels labels(const Connection& connection);

}  // namespace topoguard::record
