/* SPDX-License-Identifier: Apache-2.0
 * NCCL's collective-network interface v10: exported as ncclCollNetPlugin_v10. Element types and reductions are
 * NCCL's enums, which have the size of int. See common.h. */
#pragma once

#include "nccl/net_v10.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One part of a scattered buffer. */
typedef struct {
  void* mhandle;
  void* address;
  size_t size;
} tgnccl_sge_v10_t;
static_assert(sizeof(tgnccl_sge_v10_t) == 24, "");

typedef struct {
  const char* name;
  tgnccl_result_t (*init)(tgnccl_logger_t logger);
  tgnccl_result_t (*devices)(int* count);
  tgnccl_result_t (*get_properties)(int dev, tgnccl_net_properties_v10_t* properties);
  tgnccl_result_t (*listen)(int dev, void* handle, void** listen_comm);
  tgnccl_result_t (*connect)(void* handles[], int nranks, int rank, void* listen_comm, void** coll_comm);
  tgnccl_result_t (*reduce_support)(int data_type, int op, int* supported);
  tgnccl_result_t (*reg_mr)(void* comm, void* data, size_t size, int type, void** mhandle);
  tgnccl_result_t (*reg_mr_dma_buf)(void* comm, void* data, size_t size, int type, uint64_t offset, int fd,
                                    void** mhandle);
  tgnccl_result_t (*dereg_mr)(void* comm, void* mhandle);
  tgnccl_result_t (*iallreduce)(void* comm, void* send, void* recv, size_t count, int data_type, int op,
                                void* send_mhandle, void* recv_mhandle, void** request);
  tgnccl_result_t (*iallgather)(void* comm, void* send, int parts, tgnccl_sge_v10_t* recv_parts, size_t bytes_per_rank,
                                size_t window_offset, size_t window_bytes, void* send_mhandle, void** request);
  tgnccl_result_t (*ireducescatter)(void* comm, int parts, tgnccl_sge_v10_t* send_parts, void* recv,
                                    size_t bytes_per_rank, size_t window_offset, size_t window_bytes, int data_type,
                                    int op, void* recv_mhandle, void** request);
  tgnccl_result_t (*iflush)(void* comm, void* data, int size, void* mhandle, void** request);
  tgnccl_result_t (*test)(void* request, int* done, int* size);
  tgnccl_result_t (*close_coll)(void* comm);
  tgnccl_result_t (*close_listen)(void* comm);
  tgnccl_result_t (*make_vdevice)(int* dev, tgnccl_vdevice_v9_t* vprops);
} tgnccl_collnet_v10_t;
static_assert(sizeof(tgnccl_collnet_v10_t) == 144, "");

#ifdef __cplusplus
}
#endif
