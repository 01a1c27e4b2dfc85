// SPDX-License-Identifier: Apache-2.0
// A transport inside this process, behind a net table of any version: bytes are copied from send to receive in order.
// Tests make it slow, deaf or wrong.
#pragma once

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "wrap/api.h"

namespace memory_net {

struct Message {
  char* data;
  std::size_t size;
  bool done = false;
  std::size_t moved = 0;
};

struct Pipe {
  std::deque<std::shared_ptr<Message>> sends, receives;
  int connects = 0;
};

struct Comm {
  Pipe* pipe;
  bool sends;
};

struct Behaviour {
  int polls_to_connect = 0;   // connect() and accept() say "not yet" so often
  long corrupt_message = -1;  // of all messages: one bit of this one is turned
  long lose_byte_of = -1;     // this one comes a byte short
  int result = 0;             // of connect()
  int open = 0;               // connections that are open
};

inline std::mutex mutex;
inline Behaviour behaviour;
inline long messages = 0;
inline std::map<int, std::unique_ptr<Pipe>> pipes;

inline void move_what_can_be(Pipe& pipe) {
  while (!pipe.sends.empty() && !pipe.receives.empty()) {
    Message& from = *pipe.sends.front();
    Message& to = *pipe.receives.front();
    std::memcpy(to.data, from.data, from.size);
    to.moved = from.moved = from.size;
    if (messages == behaviour.corrupt_message) to.data[from.size / 2] ^= 1;
    if (messages == behaviour.lose_byte_of) --to.moved;
    ++messages;
    to.done = from.done = true;
    pipe.sends.pop_front();
    pipe.receives.pop_front();
  }
}

template <typename Table>
struct Net {
  static constexpr int kApi = topoguard::Api<Table>::kVersion;
  using Properties = typename topoguard::Api<Table>::Properties;

  static tgnccl_result_t init(tgnccl_logger_t) { return tgnccl_success; }
  static tgnccl_result_t init11(void**, uint64_t, tgnccl_comm_config_t*, tgnccl_logger_t, tgnccl_profiler_callback_t) {
    return tgnccl_success;
  }
  static tgnccl_result_t devices(int* count) {
    *count = 2;
    return tgnccl_success;
  }
  static tgnccl_result_t properties(int device, Properties* out) {
    static char names[2][8] = {"mem0", "mem1"};
    out->name = names[device];
    out->speed = 1000 * (device + 1);
    out->ptr_support = TGNCCL_PTR_HOST;
    return tgnccl_success;
  }
  static tgnccl_result_t listen(int, void* handle, void** comm) {
    const std::lock_guard<std::mutex> lock(mutex);
    const int number = static_cast<int>(pipes.size());
    pipes[number] = std::make_unique<Pipe>();
    std::memcpy(handle, &number, sizeof number);
    *comm = new Comm{pipes[number].get(), false};
    return tgnccl_success;
  }
  static tgnccl_result_t listen11(void*, int device, void* handle, void** comm) { return listen(device, handle, comm); }
  static tgnccl_result_t give(Pipe* pipe, bool sends, void** comm) {
    const std::lock_guard<std::mutex> lock(mutex);
    *comm = nullptr;
    if (behaviour.result != 0) return static_cast<tgnccl_result_t>(behaviour.result);
    if (behaviour.polls_to_connect > 0 && behaviour.polls_to_connect-- > 0) return tgnccl_success;
    ++behaviour.open;
    *comm = new Comm{pipe, sends};
    return tgnccl_success;
  }
  static tgnccl_result_t connect(int, void* handle, void** comm, tgnccl_device_handle_t**) {
    int number = 0;
    std::memcpy(&number, handle, sizeof number);
    return give(pipes.at(number).get(), true, comm);
  }
  static tgnccl_result_t connect11(void*, int device, void* handle, void** comm, tgnccl_device_handle_t** offload) {
    return connect(device, handle, comm, offload);
  }
  static tgnccl_result_t accept(void* listener, void** comm, tgnccl_device_handle_t**) {
    return give(static_cast<Comm*>(listener)->pipe, false, comm);
  }
  static tgnccl_result_t reg_mr(void*, void*, std::size_t, int, void** memory) {
    *memory = &behaviour;
    return tgnccl_success;
  }
  static tgnccl_result_t dereg_mr(void*, void*) { return tgnccl_success; }
  static void post(void* comm, void* data, std::size_t size, void** request) {
    const std::lock_guard<std::mutex> lock(mutex);
    auto* end = static_cast<Comm*>(comm);
    auto message = std::make_shared<Message>(Message{static_cast<char*>(data), size});
    (end->sends ? end->pipe->sends : end->pipe->receives).push_back(message);
    *request = new std::shared_ptr<Message>(message);
    move_what_can_be(*end->pipe);
  }
  static tgnccl_result_t isend8(void* comm, void* data, int size, int, void*, void** request) {
    post(comm, data, static_cast<std::size_t>(size), request);
    return tgnccl_success;
  }
  static tgnccl_result_t isend11(void* comm, void* data, std::size_t size, int, void*, void*, void** request) {
    post(comm, data, size, request);
    return tgnccl_success;
  }
  static tgnccl_result_t irecv8(void* comm, int, void** data, int* sizes, int*, void**, void** request) {
    post(comm, data[0], static_cast<std::size_t>(sizes[0]), request);
    return tgnccl_success;
  }
  static tgnccl_result_t irecv11(void* comm, int, void** data, std::size_t* sizes, int*, void**, void**,
                                 void** request) {
    post(comm, data[0], sizes[0], request);
    return tgnccl_success;
  }
  static tgnccl_result_t test(void* request, int* done, int* size) {
    const std::lock_guard<std::mutex> lock(mutex);
    auto* message = static_cast<std::shared_ptr<Message>*>(request);
    *done = (*message)->done ? 1 : 0;
    *size = static_cast<int>((*message)->moved);
    if (*done != 0) delete message;
    return tgnccl_success;
  }
  static tgnccl_result_t close(void* comm) {
    const std::lock_guard<std::mutex> lock(mutex);
    --behaviour.open;
    delete static_cast<Comm*>(comm);
    return tgnccl_success;
  }
  static tgnccl_result_t close_listen(void* comm) {
    delete static_cast<Comm*>(comm);
    return tgnccl_success;
  }
  static tgnccl_result_t finalize(void*) { return tgnccl_success; }

  static Table* table() {
    static Table net = [] {
      Table t{};
      t.name = "Memory";
      t.devices = devices;
      t.get_properties = properties;
      t.accept = accept;
      t.reg_mr = reg_mr;
      t.dereg_mr = dereg_mr;
      t.test = test;
      t.close_send = t.close_recv = close;
      t.close_listen = close_listen;
      if constexpr (kApi >= 11) {
        t.init = init11;
        t.listen = listen11;
        t.connect = connect11;
        t.isend = isend11;
        t.irecv = irecv11;
        t.finalize = finalize;
      } else {
        t.init = init;
        t.listen = listen;
        t.connect = connect;
        t.isend = isend8;
        t.irecv = irecv8;
      }
      return t;
    }();
    behaviour = {};
    messages = 0;
    return &net;
  }
};

}  // namespace memory_net
