/* SPDX-License-Identifier: Apache-2.0
 * NCCL's environment plugin: ncclEnvPlugin_v1 (2.28.7 and later) and ncclEnvPlugin_v2 (2.30.7). See common.h. */
#pragma once

#include "nccl/common.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const char* name;
  /* A failure here ends the job: NCCL has no fallback. */
  tgnccl_result_t (*init)(uint8_t major, uint8_t minor, uint8_t patch, const char* suffix);
  tgnccl_result_t (*finalize)(void); /* may be NULL */
  /* NULL for "unset"; valid until finalize or the next question of the same name. Called from many threads. */
  const char* (*get_env)(const char* name);
} tgnccl_env_v1_t;
static_assert(sizeof(tgnccl_env_v1_t) == 32, "");

typedef struct {
  const char* name;
  tgnccl_result_t (*init)(uint8_t major, uint8_t minor, uint8_t patch, const char* suffix, tgnccl_logger_t logger);
  tgnccl_result_t (*finalize)(void);
  const char* (*get_env)(const char* name);
} tgnccl_env_v2_t;
static_assert(sizeof(tgnccl_env_v2_t) == 32, "");

#ifdef __cplusplus
}
#endif
