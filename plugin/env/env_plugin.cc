// SPDX-License-Identifier: Apache-2.0
// The exported env tables. The first carries the hooks of the preload library behind NCCL's part (preload/hooks.h).
#include "env_state.h"
#include "nccl/env.h"
#include "preload/hooks.h"
#include "preload_calls.h"
#include "wrap/export.h"

namespace {

// A failure would end the job: there is none.
tgnccl_result_t init_v1(std::uint8_t major, std::uint8_t minor, std::uint8_t patch, const char*) {
  topoguard::prepare_answers(major, minor, patch);
  return tgnccl_success;
}

tgnccl_result_t init_v2(std::uint8_t major, std::uint8_t minor, std::uint8_t patch, const char*, tgnccl_logger_t) {
  topoguard::prepare_answers(major, minor, patch);
  return tgnccl_success;
}

// Called at process exit, while threads may still ask: answers stay.
tgnccl_result_t finalize() { return tgnccl_success; }

const char* get_env(const char* name) { return topoguard::answer(name); }

}  // namespace

extern "C" {
TOPOGUARD_EXPORT extern const topoguard_env_v1_t ncclEnvPlugin_v1;
TOPOGUARD_EXPORT extern const tgnccl_env_v2_t ncclEnvPlugin_v2;

constinit const topoguard_env_v1_t ncclEnvPlugin_v1 = {
    {"topoguard", init_v1, finalize, get_env},
    {TOPOGUARD_HOOKS_MAGIC, TOPOGUARD_HOOKS_VERSION, 0, topoguard::before_nccl_call}};
constinit const tgnccl_env_v2_t ncclEnvPlugin_v2 = {"topoguard", init_v2, finalize, get_env};
}
