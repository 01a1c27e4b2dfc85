// SPDX-License-Identifier: Apache-2.0
//
// Somebody else's default net plugin (libnccl-net.so in the search path, as HPC-X or aws-ofi-nccl install one), for
// NCCL 2.28 and 2.29: named "Foreign", with the stock Socket transport of the calling libnccl behind it, so that jobs
// run. It finds that by NCCL's documented logger argument and the file's symbol table, as a test may.
#include <dlfcn.h>

#include <cstring>

#include "elf_symbols.h"
#include "nccl/net_v11.h"

namespace {

tgnccl_net_v11_t* stock = nullptr;

tgnccl_net_v11_t* find_stock(tgnccl_logger_t logger) {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(logger), &info) == 0) return nullptr;
  tgnccl_net_v11_t* found = nullptr;
  fakecuda::visit_symbols(info.dli_fname,
                          [&](fakecuda::SymbolKind, const char* name, std::uintptr_t value, std::size_t) {
                            if (std::strcmp(name, "ncclNetSocket") == 0) {
                              found = reinterpret_cast<tgnccl_net_v11_t*>(static_cast<char*>(info.dli_fbase) + value);
                            }
                          });
  return found;
}

tgnccl_result_t init(void** context, uint64_t comm_id, tgnccl_comm_config_t* config, tgnccl_logger_t logger,
                     tgnccl_profiler_callback_t profiler) {
  stock = find_stock(logger);
  if (stock == nullptr) return tgnccl_system_error;
  tgnccl_result_t result = stock->init(context, comm_id, config, logger, profiler);
  logger(tgnccl_log_info, ~0UL, "foreign", 0, "NET/Foreign : initialised");
  return result;
}

tgnccl_result_t devices(int* count) { return stock->devices(count); }

tgnccl_result_t get_properties(int device, tgnccl_net_properties_v11_t* properties) {
  std::memset(properties, 0, sizeof *properties);
  tgnccl_result_t result = stock->get_properties(device, properties);
  properties->vprops.ndevs = 1;
  properties->vprops.devs[0] = device;
  return result;
}

tgnccl_result_t listen(void* context, int device, void* handle, void** comm) {
  return stock->listen(context, device, handle, comm);
}

tgnccl_result_t connect(void* context, int device, void* handle, void** comm, tgnccl_device_handle_t** device_handle) {
  return stock->connect(context, device, handle, comm, device_handle);
}

tgnccl_result_t accept(void* listener, void** comm, tgnccl_device_handle_t** device_handle) {
  return stock->accept(listener, comm, device_handle);
}

tgnccl_result_t reg_mr(void* comm, void* data, size_t size, int type, void** handle) {
  return stock->reg_mr(comm, data, size, type, handle);
}

tgnccl_result_t dereg_mr(void* comm, void* handle) { return stock->dereg_mr(comm, handle); }

tgnccl_result_t isend(void* comm, void* data, size_t size, int tag, void* handle, void* event, void** request) {
  return stock->isend(comm, data, size, tag, handle, event, request);
}

tgnccl_result_t irecv(void* comm, int n, void** data, size_t* sizes, int* tags, void** handles, void** events,
                      void** request) {
  return stock->irecv(comm, n, data, sizes, tags, handles, events, request);
}

tgnccl_result_t iflush(void* comm, int n, void** data, int* sizes, void** handles, void** request) {
  return stock->iflush(comm, n, data, sizes, handles, request);
}

tgnccl_result_t test(void* request, int* done, int* sizes) { return stock->test(request, done, sizes); }
tgnccl_result_t close_send(void* comm) { return stock->close_send(comm); }
tgnccl_result_t close_recv(void* comm) { return stock->close_recv(comm); }
tgnccl_result_t close_listen(void* comm) { return stock->close_listen(comm); }
tgnccl_result_t finalize(void* context) { return stock == nullptr ? tgnccl_success : stock->finalize(context); }

}  // namespace

extern "C" __attribute__((visibility("default"))) tgnccl_net_v11_t ncclNetPlugin_v11;
tgnccl_net_v11_t ncclNetPlugin_v11 = {
    "Foreign", init,   devices, get_properties, listen,     connect,      accept,  reg_mr,  nullptr, dereg_mr, isend,
    irecv,     iflush, test,    close_send,     close_recv, close_listen, nullptr, nullptr, nullptr, finalize, nullptr};
