/* SPDX-License-Identifier: Apache-2.0
 * NCCL's net plugin interface v10, native to NCCL 2.26 and 2.27: exported as ncclNetPlugin_v10. See common.h. */
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
  int reg_is_global;
  int force_flush;
  int speed; /* Mbit/s */
  int port;
  float latency; /* microseconds */
  int max_comms;
  int max_recvs;
  int device_type;
  int device_version;
  tgnccl_vdevice_v9_t vprops;
  size_t max_p2p_bytes;
  size_t max_coll_bytes;
} tgnccl_net_properties_v10_t;
static_assert(sizeof(tgnccl_net_properties_v10_t) == 104, "");
static_assert(offsetof(tgnccl_net_properties_v10_t, force_flush) == 32, "");
static_assert(offsetof(tgnccl_net_properties_v10_t, speed) == 36, "");
static_assert(offsetof(tgnccl_net_properties_v10_t, latency) == 44, "");
static_assert(offsetof(tgnccl_net_properties_v10_t, device_type) == 56, "");
static_assert(offsetof(tgnccl_net_properties_v10_t, vprops) == 64, "");
static_assert(offsetof(tgnccl_net_properties_v10_t, max_p2p_bytes) == 88, "");
static_assert(offsetof(tgnccl_net_properties_v10_t, max_coll_bytes) == 96, "");

typedef struct {
  const char* name; /* read before init() */
  tgnccl_result_t (*init)(tgnccl_logger_t logger, tgnccl_profiler_callback_t profiler);
  tgnccl_result_t (*devices)(int* count);
  tgnccl_result_t (*get_properties)(int dev, tgnccl_net_properties_v10_t* properties);
  tgnccl_result_t (*listen)(int dev, void* handle, void** listen_comm);
  tgnccl_result_t (*connect)(int dev, tgnccl_comm_config_t* config, void* handle, void** send_comm,
                             tgnccl_device_handle_t** device);
  tgnccl_result_t (*accept)(void* listen_comm, void** recv_comm, tgnccl_device_handle_t** device);
  tgnccl_result_t (*reg_mr)(void* comm, void* data, size_t size, int type, void** mhandle);
  tgnccl_result_t (*reg_mr_dma_buf)(void* comm, void* data, size_t size, int type, uint64_t offset, int fd,
                                    void** mhandle); /* may be NULL */
  tgnccl_result_t (*dereg_mr)(void* comm, void* mhandle);
  tgnccl_result_t (*isend)(void* comm, void* data, size_t size, int tag, void* mhandle, void* event, void** request);
  tgnccl_result_t (*irecv)(void* comm, int n, void** data, size_t* sizes, int* tags, void** mhandles, void** events,
                           void** request);
  tgnccl_result_t (*iflush)(void* comm, int n, void** data, int* sizes, void** mhandles, void** request);
  tgnccl_result_t (*test)(void* request, int* done, int* sizes);
  tgnccl_result_t (*close_send)(void* comm);
  tgnccl_result_t (*close_recv)(void* comm);
  tgnccl_result_t (*close_listen)(void* comm);
  tgnccl_result_t (*get_device_mr)(void* comm, void* mhandle, void** device_mhandle); /* may be NULL */
  tgnccl_result_t (*irecv_consumed)(void* comm, int n, void* request);                /* may be NULL */
  tgnccl_result_t (*make_vdevice)(int* dev, tgnccl_vdevice_v9_t* vprops);             /* may be NULL */
} tgnccl_net_v10_t;
static_assert(sizeof(tgnccl_net_v10_t) == 160, "");
static_assert(offsetof(tgnccl_net_v10_t, init) == 8, "");
static_assert(offsetof(tgnccl_net_v10_t, listen) == 32, "");
static_assert(offsetof(tgnccl_net_v10_t, reg_mr_dma_buf) == 64, "");
static_assert(offsetof(tgnccl_net_v10_t, isend) == 80, "");
static_assert(offsetof(tgnccl_net_v10_t, irecv) == 88, "");
static_assert(offsetof(tgnccl_net_v10_t, test) == 104, "");
static_assert(offsetof(tgnccl_net_v10_t, close_listen) == 128, "");
static_assert(offsetof(tgnccl_net_v10_t, irecv_consumed) == 144, "");
static_assert(offsetof(tgnccl_net_v10_t, make_vdevice) == 152, "");

#ifdef __cplusplus
}
#endif
