/* SPDX-License-Identifier: Apache-2.0
 * NCCL's net plugin interface v6, native to NCCL 2.18: exported as ncclNetPlugin_v6. See common.h. */
#pragma once

#include "nccl/common.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const char* name;
  const char* pci_path;
  uint64_t guid;
  int ptr_support;
  int speed; /* Mbit/s */
  int port;
  float latency; /* microseconds */
  int max_comms;
  int max_recvs;
} tgnccl_net_properties_v6_t;
static_assert(sizeof(tgnccl_net_properties_v6_t) == 48, "");
static_assert(offsetof(tgnccl_net_properties_v6_t, speed) == 28, "");
static_assert(offsetof(tgnccl_net_properties_v6_t, latency) == 36, "");
static_assert(offsetof(tgnccl_net_properties_v6_t, max_recvs) == 44, "");

typedef struct {
  const char* name; /* read before init() */
  tgnccl_result_t (*init)(tgnccl_logger_t logger);
  tgnccl_result_t (*devices)(int* count);
  tgnccl_result_t (*get_properties)(int dev, tgnccl_net_properties_v6_t* properties);
  tgnccl_result_t (*listen)(int dev, void* handle, void** listen_comm);
  tgnccl_result_t (*connect)(int dev, void* handle, void** send_comm);
  tgnccl_result_t (*accept)(void* listen_comm, void** recv_comm);
  tgnccl_result_t (*reg_mr)(void* comm, void* data, int size, int type, void** mhandle);
  tgnccl_result_t (*reg_mr_dma_buf)(void* comm, void* data, size_t size, int type, uint64_t offset, int fd,
                                    void** mhandle); /* may be NULL */
  tgnccl_result_t (*dereg_mr)(void* comm, void* mhandle);
  tgnccl_result_t (*isend)(void* comm, void* data, int size, int tag, void* mhandle, void** request);
  tgnccl_result_t (*irecv)(void* comm, int n, void** data, int* sizes, int* tags, void** mhandles, void** request);
  tgnccl_result_t (*iflush)(void* comm, int n, void** data, int* sizes, void** mhandles, void** request);
  tgnccl_result_t (*test)(void* request, int* done, int* sizes);
  tgnccl_result_t (*close_send)(void* comm);
  tgnccl_result_t (*close_recv)(void* comm);
  tgnccl_result_t (*close_listen)(void* comm);
} tgnccl_net_v6_t;
static_assert(sizeof(tgnccl_net_v6_t) == 136, "");
static_assert(offsetof(tgnccl_net_v6_t, init) == 8, "");
static_assert(offsetof(tgnccl_net_v6_t, listen) == 32, "");
static_assert(offsetof(tgnccl_net_v6_t, reg_mr_dma_buf) == 64, "");
static_assert(offsetof(tgnccl_net_v6_t, isend) == 80, "");
static_assert(offsetof(tgnccl_net_v6_t, irecv) == 88, "");
static_assert(offsetof(tgnccl_net_v6_t, test) == 104, "");
static_assert(offsetof(tgnccl_net_v6_t, close_listen) == 128, "");

#ifdef __cplusplus
}
#endif
