/* SPDX-License-Identifier: Apache-2.0
 * NCCL's GPU-initiated networking interface v11: ncclGinPlugin_v11, looked up in the net plugin's library by 2.28.7 to
 * 2.29.3. topoguard only hands NCCL's own table through, so the slots after getProperties are typed as they are
 * called but never called by us. See common.h. */
#pragma once

#include <stdbool.h>

#include "nccl/net_v11.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const char* name;
  tgnccl_result_t (*init)(void** ctx, uint64_t comm_id, tgnccl_logger_t logger);
  tgnccl_result_t (*devices)(int* count);
  tgnccl_result_t (*get_properties)(int dev, tgnccl_net_properties_v11_t* properties);
  tgnccl_result_t (*listen)(void* ctx, int dev, void* handle, void** listen_comm);
  tgnccl_result_t (*connect)(void* ctx, void* handles[], int nranks, int rank, void* listen_comm, void** coll_comm);
  tgnccl_result_t (*create_context)(void* coll_comm, int signals, int counters, void** gin_ctx,
                                    tgnccl_device_handle_t** device);
  tgnccl_result_t (*reg_mr_sym)(void* coll_comm, void* data, size_t size, int type, uint64_t flags, void** mhandle,
                                void** gin_handle);
  tgnccl_result_t (*reg_mr_sym_dma_buf)(void* coll_comm, void* data, size_t size, int type, uint64_t offset, int fd,
                                        uint64_t flags, void** mhandle, void** gin_handle);
  tgnccl_result_t (*dereg_mr_sym)(void* coll_comm, void* mhandle);
  tgnccl_result_t (*destroy_context)(void* gin_ctx);
  tgnccl_result_t (*close_coll)(void* coll_comm);
  tgnccl_result_t (*close_listen)(void* listen_comm);
  tgnccl_result_t (*iput)(void* coll_comm, uint64_t src_offset, void* src_mhandle, size_t size, uint64_t dst_offset,
                          void* dst_mhandle, uint32_t rank, void** request);
  tgnccl_result_t (*iput_signal)(void* coll_comm, uint64_t src_offset, void* src_mhandle, size_t size,
                                 uint64_t dst_offset, void* dst_mhandle, uint32_t rank, uint64_t signal_offset,
                                 void* signal_mhandle, uint64_t signal_value, uint32_t signal_op, void** request);
  tgnccl_result_t (*test)(void* coll_comm, void* request, int* done);
  tgnccl_result_t (*progress)(void* coll_comm);
  tgnccl_result_t (*query_last_error)(void* gin_ctx, bool* has_error);
  tgnccl_result_t (*finalize)(void* ctx);
} tgnccl_gin_v11_t;
static_assert(sizeof(tgnccl_gin_v11_t) == 152, "");
static_assert(offsetof(tgnccl_gin_v11_t, finalize) == 144, "");

#ifdef __cplusplus
}
#endif
