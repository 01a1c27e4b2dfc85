// SPDX-License-Identifier: Apache-2.0
//
// What this process looks like from inside: for tests that compare a job with and without topoguard.
#pragma once

#include <nlohmann/json.hpp>

namespace rig {

// {"threads": [names], "fds": [targets of open files], "objects": [loaded files], "mask": "Cpus_allowed_list",
//  "memory_kib": anonymous memory (what a leak makes grow), "resident_kib": all of it, "environment": {NCCL_* and
//  TOPOGUARD_* variables}}
nlohmann::json process_facts();

}  // namespace rig
