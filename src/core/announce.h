// SPDX-License-Identifier: Apache-2.0
// What a process says once: the log block on the first communicator, and the warnings, so that they are heard.
#pragma once

#include <string>
#include <vector>

#include "core/session.h"
#include "report/log_block.h"

namespace topoguard {

/// Once per process; later calls do nothing. Nothing at all where the session is off or undecided.
void announce(const Session& session, const NcclObject* nccl, Way way, const std::string& reason,
              tgnccl_logger_t logger) noexcept;

/// One line per code: the first device's, and how many more there are; information is left out.
void complain_of(const Voice& voice, const std::vector<Finding>& findings);

/// Lets announce() speak again. Tests only.
void forget_announcement();

}  // namespace topoguard
