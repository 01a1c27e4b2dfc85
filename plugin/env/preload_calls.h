// SPDX-License-Identifier: Apache-2.0
// What happens when the preload library reports a call into NCCL: decide and publish before NCCL reads anything, warn
// of an announcement that cannot be reached before NCCL waits for it, bind before NCCL starts its threads.
#pragma once

#include "preload/hooks.h"

namespace topoguard {

/// Any thread; never throws, never fails.
void before_nccl_call(const topoguard_call_t* call) noexcept;

}  // namespace topoguard
