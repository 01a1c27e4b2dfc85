// SPDX-License-Identifier: Apache-2.0
// Our definitions against NCCL's own public header, where one is at hand.
#include <nccl.h>

#include <catch2/catch.hpp>

#include "nccl/common.h"
#include "stock/release.h"

static_assert(static_cast<int>(ncclSuccess) == tgnccl_success);
static_assert(static_cast<int>(ncclUnhandledCudaError) == tgnccl_unhandled_cuda_error);
static_assert(static_cast<int>(ncclSystemError) == tgnccl_system_error);
static_assert(static_cast<int>(ncclInternalError) == tgnccl_internal_error);
static_assert(static_cast<int>(ncclInvalidArgument) == tgnccl_invalid_argument);
static_assert(static_cast<int>(ncclInvalidUsage) == tgnccl_invalid_usage);
static_assert(static_cast<int>(ncclRemoteError) == tgnccl_remote_error);
static_assert(static_cast<int>(ncclInProgress) == tgnccl_in_progress);
static_assert(sizeof(ncclResult_t) == sizeof(tgnccl_result_t));
static_assert(sizeof(ncclUniqueId) == TGNCCL_UNIQUE_ID_BYTES);
// Element types and reductions are passed as int in our collective-network tables.
static_assert(sizeof(ncclDataType_t) == sizeof(int));
static_assert(sizeof(ncclRedOp_t) == sizeof(int));

TEST_CASE("the version code reads as nccl.h writes it") {
  const std::string text =
      std::to_string(NCCL_MAJOR) + "." + std::to_string(NCCL_MINOR) + "." + std::to_string(NCCL_PATCH);
  CHECK(topoguard::release_text(NCCL_VERSION_CODE) == text);
  CHECK(NCCL_VERSION_CODE == NCCL_VERSION(NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH));
  if (NCCL_MINOR >= 18 && NCCL_MINOR <= 30) CHECK(topoguard::native_api(NCCL_VERSION_CODE).has_value());
}
