/* SPDX-License-Identifier: Apache-2.0
 * What every version of NCCL's plugin interfaces shares: result codes, the logger, constants.
 * Our own definitions, with their own names, so that a test can hold them against NCCL's headers. C11 and C++.
 * Layout and values: NCCL 2.18.3 to 2.30.7, src/include/nccl_common.h, net_device.h and plugin/ of each release. */
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  tgnccl_success = 0,
  tgnccl_unhandled_cuda_error = 1,
  tgnccl_system_error = 2,
  tgnccl_internal_error = 3,
  tgnccl_invalid_argument = 4,
  tgnccl_invalid_usage = 5,
  tgnccl_remote_error = 6,
  tgnccl_in_progress = 7,
  tgnccl_timeout = 8 /* 2.30 and later */
} tgnccl_result_t;

typedef enum {
  tgnccl_log_none = 0,
  tgnccl_log_version = 1,
  tgnccl_log_warn = 2,
  tgnccl_log_info = 3,
  tgnccl_log_abort = 4,
  tgnccl_log_trace = 5
} tgnccl_log_level_t;

enum { TGNCCL_LOG_INIT = 0x1, TGNCCL_LOG_NET = 0x10, TGNCCL_LOG_ENV = 0x80 };

/* A printf-like function inside the NCCL object that calls the plugin. */
typedef void (*tgnccl_logger_t)(tgnccl_log_level_t level, unsigned long flags, const char* file, int line,
                                const char* format, ...);
typedef tgnccl_result_t (*tgnccl_profiler_callback_t)(void** event, int type, void* parent, int64_t plugin_id,
                                                      void* extra);

enum { TGNCCL_PTR_HOST = 1, TGNCCL_PTR_CUDA = 2, TGNCCL_PTR_DMABUF = 4 };
enum { TGNCCL_NET_HANDLE_MAXSIZE = 128, TGNCCL_UNIQUE_ID_BYTES = 128 };
enum { TGNCCL_TRAFFIC_CLASS_UNDEFINED = -1 };
enum { TGNCCL_NET_DEVICE_HOST = 0, TGNCCL_NET_DEVICE_UNPACK = 1 };

/* v7 and later, the same in each. */
typedef struct {
  int type;
  int version;
  void* handle;
  size_t size;
  int needs_proxy_progress;
} tgnccl_device_handle_t;
static_assert(sizeof(tgnccl_device_handle_t) == 32, "");
static_assert(offsetof(tgnccl_device_handle_t, handle) == 8, "");
static_assert(offsetof(tgnccl_device_handle_t, needs_proxy_progress) == 24, "");

/* v10 and later: -1 where the user set none. */
typedef struct {
  int traffic_class;
} tgnccl_comm_config_t;
static_assert(sizeof(tgnccl_comm_config_t) == 4, "");

/* v11 and later. */
typedef struct {
  int32_t max_concurrent_peers, min_concurrent_peers, max_flows_per_peer, min_flows_per_peer;
} tgnccl_comm_attr_t;
typedef struct {
  tgnccl_comm_attr_t send, recv;
  uint32_t op, algo, proto;
} tgnccl_net_attr_t;
static_assert(sizeof(tgnccl_comm_attr_t) == 16, "");
static_assert(sizeof(tgnccl_net_attr_t) == 44, "");

/* Virtual devices: the members are numbers in the plugin's own numbering. */
typedef struct {
  int ndevs;
  int devs[4];
} tgnccl_vdevice_v9_t; /* v9 to v11 */
typedef struct {
  int ndevs;
  int devs[8];
} tgnccl_vdevice_v12_t;
static_assert(sizeof(tgnccl_vdevice_v9_t) == 20, "");
static_assert(sizeof(tgnccl_vdevice_v12_t) == 36, "");

#ifdef __cplusplus
}
#endif
