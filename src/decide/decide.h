// SPDX-License-Identifier: Apache-2.0
// The one pure function that decides. No system call, no global state, no exception for any snapshot:
// equal arguments give equal results on every rank.
#pragma once

#include "topoguard/decision.h"
#include "topoguard/policy.h"
#include "topoguard/snapshot.h"

namespace topoguard {

Decision decide(const HostSnapshot& host, const Policy& policy);

}  // namespace topoguard
