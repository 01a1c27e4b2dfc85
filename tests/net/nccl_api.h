// SPDX-License-Identifier: Apache-2.0
//
// The few NCCL API declarations that the test programs call, as documented in NCCL's user guide; the functions
// themselves come from the libnccl that was opened, by dlsym.
#pragma once

#include <climits>
#include <cstddef>

namespace rig {

using Result = int;   // ncclResult_t; 0 is success
struct Communicator;  // opaque

struct UniqueId {
  char bytes[128];
};

// ncclConfig_t as NCCL 2.18 has it. Every later release reads as much as `size` says and takes its defaults for the
// rest.
struct Config {
  std::size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 21800;
  int blocking = INT_MIN;  // INT_MIN, nullptr: undefined
  int cga_cluster_size = INT_MIN;
  int min_ctas = INT_MIN;
  int max_ctas = INT_MIN;
  const char* net_name = nullptr;
  int split_share = INT_MIN;
};
static_assert(sizeof(Config) == 48);

struct NcclApi {
  Result (*get_version)(int* version);
  Result (*get_unique_id)(UniqueId* id);
  Result (*init_rank)(Communicator** comm, int ranks, UniqueId id, int rank);
  Result (*init_rank_config)(Communicator** comm, int ranks, UniqueId id, int rank, Config* config);
  Result (*init_all)(Communicator** comms, int devices, const int* device_list);
  Result (*split)(Communicator* comm, int color, int key, Communicator** child, Config* config);
  Result (*all_reduce)(const void* send, void* receive, std::size_t count, int type, int operation, Communicator* comm,
                       void* stream);
  Result (*destroy)(Communicator* comm);
  Result (*abort)(Communicator* comm);
};

}  // namespace rig
