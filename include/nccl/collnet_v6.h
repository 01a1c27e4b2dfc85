/* SPDX-License-Identifier: Apache-2.0
 * NCCL's collective-network interface v6: exported as ncclCollNetPlugin_v6. Element types and reductions are
 * NCCL's enums, which have the size of int. See common.h. */
#pragma once

#include "nccl/net_v6.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const char* name;
  tgnccl_result_t (*init)(tgnccl_logger_t logger);
  tgnccl_result_t (*devices)(int* count);
  tgnccl_result_t (*get_properties)(int dev, tgnccl_net_properties_v6_t* properties);
  tgnccl_result_t (*listen)(int dev, void* handle, void** listen_comm);
  tgnccl_result_t (*connect)(void* handles[], int nranks, int rank, void* listen_comm, void** coll_comm);
  tgnccl_result_t (*reduce_support)(int data_type, int op, int* supported);
  tgnccl_result_t (*reg_mr)(void* comm, void* data, int size, int type, void** mhandle);
  tgnccl_result_t (*reg_mr_dma_buf)(void* comm, void* data, size_t size, int type, uint64_t offset, int fd,
                                    void** mhandle);
  tgnccl_result_t (*dereg_mr)(void* comm, void* mhandle);
  tgnccl_result_t (*iallreduce)(void* comm, void* send, void* recv, int count, int data_type, int op,
                                void* send_mhandle, void* recv_mhandle, void** request);
  tgnccl_result_t (*iflush)(void* comm, void* data, int size, void* mhandle, void** request);
  tgnccl_result_t (*test)(void* request, int* done, int* size);
  tgnccl_result_t (*close_coll)(void* comm);
  tgnccl_result_t (*close_listen)(void* comm);
} tgnccl_collnet_v6_t;
static_assert(sizeof(tgnccl_collnet_v6_t) == 120, "");

#ifdef __cplusplus
}
#endif
