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

// How connections of both transports behave: at once, unless a test says otherwise.
struct MockConnections {
  int connect_polls;                      // connect() leaves the connection open so many times first; -1 = always
  int accept_polls;                       // accept(), likewise
  int connect_result;                     // what connect() returns, instead of success
  int handle_bytes;                       // listen() writes so many bytes of the handle (0xEE)
  unsigned char address[28];              // and before that this socket address, where its first byte is not 0
  int accepts, closes, closed_listeners;  // calls
  unsigned char seen[128];                // the handle as connect() received it last
};

struct Mock {
  int version_code;  // what ncclGetVersion says
  MockTransport ib, socket;
  MockConnections connections;
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
