// SPDX-License-Identifier: Apache-2.0
// A stand-in for one NCCL object: a shared library with hidden transport tables of one API version, as NCCL keeps
// them, and a record of what was called. Tests steer it through `mock` and look at it through the same struct.
#pragma once

#include "nccl/common.h"

struct MockTransport {
  int devices;              // what devices() says
  int init_result;          // of the first init()
  bool sticky;              // later init() calls succeed whatever the first one said (2.28 and later)
  int inits, finalizes;     // calls
  int listens, connects;    // calls
  const char* names[4];     // device names
  void* last_context;       // what listen(), connect(), finalize() or set_net_attr() received
  void* last_handle;        // what connect() received
  char ifname_at_init[32];  // NCCL_SOCKET_IFNAME when init() was called
  int traffic_class;        // what init() (v11) or connect() (v10) received; -2 = nothing
};

struct Mock {
  int version_code;  // what ncclGetVersion says
  MockTransport ib, socket;
  bool overlong_properties;  // getProperties writes 16 bytes more than its version has
  char log[16384];           // everything that came through the logger
  unsigned levels[6];        // lines per level
  const void* ib_table;      // addresses of the hidden tables
  const void* socket_table;
  const void* gin_table;
  unsigned long table_bytes;
};

extern "C" {
typedef Mock* (*MockAccess)();
typedef tgnccl_logger_t (*MockLogger)();
}
