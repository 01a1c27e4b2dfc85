// SPDX-License-Identifier: Apache-2.0
// What the files (core/journal.h) get of the first communicator's block.
#pragma once

#include "core/journal.h"
#include "core/session.h"
#include "report/log_block.h"

namespace topoguard {

/// Which topoguard in which NCCL, entered how, and the whole decision but its findings, which are events of their own.
journal::Event start_event(const Session& session, const RunFacts& facts);
void count_start(journal::Metrics& metrics, const Session& session, const RunFacts& facts);

/// "wrapped", "steering", "observe", "off"
std::string_view way_name(Way way);

}  // namespace topoguard
