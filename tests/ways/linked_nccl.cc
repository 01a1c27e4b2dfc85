// SPDX-License-Identifier: Apache-2.0
// The twin of tests/net/nccl_library.cc for programs and libraries that are linked with NCCL: the functions are dynamic
// symbols, as in most C++ programs and in PyTorch, so that a preload library is between.
#include <dlfcn.h>
#include <link.h>

#include <stdexcept>

#include "install.h"
#include "nccl_library.h"

extern "C" {
rig::Result ncclGetVersion(int* version);
rig::Result ncclGetUniqueId(rig::UniqueId* id);
rig::Result ncclCommInitRank(rig::Communicator** comm, int ranks, rig::UniqueId id, int rank);
rig::Result ncclCommInitRankConfig(rig::Communicator** comm, int ranks, rig::UniqueId id, int rank,
                                   rig::Config* config);
rig::Result ncclCommInitAll(rig::Communicator** comms, int devices, const int* device_list);
rig::Result ncclCommSplit(rig::Communicator* comm, int color, int key, rig::Communicator** child, rig::Config* config);
rig::Result ncclAllReduce(const void* send, void* receive, std::size_t count, int type, int operation,
                          rig::Communicator* comm, void* stream);
rig::Result ncclCommDestroy(rig::Communicator* comm);
rig::Result ncclCommAbort(rig::Communicator* comm);
}

namespace rig {
namespace {

// Calls, and not addresses of functions: the caller's return address must lie in this program or library, not in a stub
// of the linker.
const NcclApi kLinked = {
    [](int* version) { return ncclGetVersion(version); },
    [](UniqueId* id) { return ncclGetUniqueId(id); },
    [](Communicator** comm, int ranks, UniqueId id, int rank) { return ncclCommInitRank(comm, ranks, id, rank); },
    [](Communicator** comm, int ranks, UniqueId id, int rank, Config* config) {
      return ncclCommInitRankConfig(comm, ranks, id, rank, config);
    },
    [](Communicator** comms, int devices, const int* list) { return ncclCommInitAll(comms, devices, list); },
    [](Communicator* comm, int color, int key, Communicator** child, Config* config) {
      return ncclCommSplit(comm, color, key, child, config);
    },
    [](const void* send, void* receive, std::size_t count, int type, int operation, Communicator* comm, void* stream) {
      return ncclAllReduce(send, receive, count, type, operation, comm, stream);
    },
    [](Communicator* comm) { return ncclCommDestroy(comm); },
    [](Communicator* comm) { return ncclCommAbort(comm); },
};

}  // namespace

NcclLibrary::NcclLibrary(std::string) : api_(kLinked) {
  if (fakecuda_install() < 1) throw std::runtime_error("no CUDA runtime to redirect: is the real libnccl linked?");
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&ncclGetVersion), &info) == 0) throw std::runtime_error("no libnccl");
  path_ = info.dli_fname;
  base_ = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
}

int NcclLibrary::version() const {
  int version = 0;
  api_.get_version(&version);
  return version;
}

void NcclLibrary::reopen_elsewhere() { throw std::runtime_error("a linked NCCL cannot be opened again"); }

}  // namespace rig
