// SPDX-License-Identifier: Apache-2.0
#include "communicators.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>

#include "facts.h"
#include "install.h"

namespace rig {
namespace {

template <class Function>
Function* cuda(const char* name) {
  void* function = fakecuda_function(name);
  if (function == nullptr) throw std::runtime_error(std::string("fakecuda has no ") + name);
  return reinterpret_cast<Function*>(function);
}

void set_device(int device) {
  if (cuda<int(int)>("cudaSetDevice")(device) != 0) throw std::runtime_error("no device " + std::to_string(device));
}

void check(const char* call, Result result) {
  if (result != 0) throw std::runtime_error(std::string(call) + " returned " + std::to_string(result));
}

// The first 8 bytes of an id are a magic number; then rank 0's socket address as bootstrap listens on it (NCCL 2.18
// to 2.30).
std::string announced_address(const UniqueId& id) {
  char text[INET6_ADDRSTRLEN] = "";
  sa_family_t family = 0;
  std::memcpy(&family, id.bytes + 8, sizeof family);
  if (family == AF_INET) inet_ntop(AF_INET, id.bytes + 8 + offsetof(sockaddr_in, sin_addr), text, sizeof text);
  if (family == AF_INET6) inet_ntop(AF_INET6, id.bytes + 8 + offsetof(sockaddr_in6, sin6_addr), text, sizeof text);
  return text;
}

}  // namespace

Communicators::Communicators(NcclLibrary& library, Exchange exchange, Place place)
    : library_(library), exchange_(std::move(exchange)), place_(place) {
  set_device(place_.device);
}

UniqueId Communicators::agree_on_id(int number) {
  const std::string name = "id." + std::to_string(number);
  UniqueId id{};
  if (place_.rank == 0) {
    check("ncclGetUniqueId", library_.api().get_unique_id(&id));
    exchange_.put(name, std::string(id.bytes, sizeof id.bytes));
  } else {
    const std::string value = exchange_.get(name);
    std::memcpy(id.bytes, value.data(), std::min(value.size(), sizeof id.bytes));
  }
  return id;
}

Communicator* Communicators::init(int id_number, bool with_config) {
  const UniqueId id = agree_on_id(id_number);
  Communicator* comm = nullptr;
  if (with_config) {
    Config config;
    config.blocking = 1;
    check("ncclCommInitRankConfig", library_.api().init_rank_config(&comm, place_.ranks, id, place_.rank, &config));
  } else {
    check("ncclCommInitRank", library_.api().init_rank(&comm, place_.ranks, id, place_.rank));
  }
  return comm;
}

nlohmann::json Communicators::init_one(bool with_config) {
  const int number = next_id_++;
  open_.push_back(init(number, with_config));
  const std::string id = exchange_.get("id." + std::to_string(number));
  UniqueId announced{};
  std::memcpy(announced.bytes, id.data(), std::min(id.size(), sizeof announced.bytes));
  return {{"announced", announced_address(announced)}};
}

nlohmann::json Communicators::init_from_threads(int count) {
  std::vector<Communicator*> comms(static_cast<std::size_t>(count));
  std::vector<std::exception_ptr> failures(comms.size());
  std::vector<std::thread> threads;
  for (std::size_t index = 0; index < comms.size(); ++index) {
    threads.emplace_back([this, index, &comms, &failures, first = next_id_] {
      try {
        set_device(place_.device);
        comms[index] = init(first + static_cast<int>(index), false);
      } catch (...) {
        failures[index] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  next_id_ += count;
  open_.insert(open_.end(), comms.begin(), comms.end());
  return {{"communicators", count}};
}

nlohmann::json Communicators::init_all(int count) {
  std::vector<Communicator*> comms(static_cast<std::size_t>(count));
  check("ncclCommInitAll", library_.api().init_all(comms.data(), count, nullptr));
  open_.insert(open_.end(), comms.begin(), comms.end());
  return {{"communicators", count}};
}

nlohmann::json Communicators::split(bool share) {
  Config config;
  config.blocking = 1;
  config.split_share = share ? 1 : 0;
  Communicator* child = nullptr;
  check("ncclCommSplit", library_.api().split(open_.back(), 0, place_.rank, &child, &config));
  open_.push_back(child);
  return nullptr;
}

// Kernels do nothing in the rig, so no value comes back: what counts is that NCCL plans and launches it.
nlohmann::json Communicators::all_reduce() {
  constexpr std::size_t kFloats = 1 << 20;
  constexpr int kFloat32 = 7, kSum = 0;
  void *send = nullptr, *receive = nullptr, *stream = nullptr;
  auto* allocate = cuda<int(void**, std::size_t)>("cudaMalloc");
  check("cudaMalloc", allocate(&send, kFloats * sizeof(float)) | allocate(&receive, kFloats * sizeof(float)));
  check("cudaStreamCreateWithFlags", cuda<int(void**, unsigned)>("cudaStreamCreateWithFlags")(&stream, 1));
  check("ncclAllReduce", library_.api().all_reduce(send, receive, kFloats, kFloat32, kSum, open_.back(), stream));
  return nullptr;
}

nlohmann::json Communicators::end(bool abort, bool all) {
  int ended = 0;
  do {
    if (open_.empty()) throw std::runtime_error("no communicator is open");
    Communicator* comm = open_.back();
    open_.pop_back();
    check(abort ? "ncclCommAbort" : "ncclCommDestroy",
          abort ? library_.api().abort(comm) : library_.api().destroy(comm));
    ++ended;
  } while (all && !open_.empty());
  return {{"ended", ended}};
}

nlohmann::json Communicators::reload() {
  const std::uintptr_t before = library_.base();
  library_.reopen_elsewhere();
  return {{"before", before}, {"after", library_.base()}};
}

nlohmann::json Communicators::hold(const std::string& name) {
  exchange_.put("held." + name + "." + std::to_string(place_.rank), "");
  exchange_.get("release." + name);
  return nullptr;
}

nlohmann::json Communicators::cycles(int count) {
  for (int cycle = 0; cycle < count; ++cycle) {
    init_one(false);
    end(false, false);
  }
  return {{"cycles", count}};
}

std::string Communicators::help() {
  return "steps:\n"
         "  init             a communicator of all ranks, ncclCommInitRank\n"
         "  init-config      the same by ncclCommInitRankConfig, blocking\n"
         "  threads:N        N communicators at the same time, from a thread each\n"
         "  all:N            ncclCommInitAll over the first N devices, this process alone\n"
         "  split            a child of the last communicator; split-share: with shared resources\n"
         "  allreduce        start one on the last communicator; end that one by abort\n"
         "  destroy, abort   end the last communicator; destroy-all, abort-all: every one\n"
         "  cycles:N         N times init and destroy\n"
         "  reload           close libnccl and open it at another address\n"
         "  facts            report threads, open files, objects, CPUs and variables\n"
         "  barrier          wait for the other ranks\n"
         "  hold:NAME        put held.NAME.RANK into the exchange folder, wait for release.NAME\n";
}

nlohmann::json Communicators::run(const std::string& step) {
  const std::size_t colon = step.find(':');
  const std::string name = step.substr(0, colon);
  const std::string argument = colon == std::string::npos ? "" : step.substr(colon + 1);
  if (name == "init") return init_one(false);
  if (name == "init-config") return init_one(true);
  if (name == "threads") return init_from_threads(std::stoi(argument));
  if (name == "all") return init_all(std::stoi(argument));
  if (name == "split") return split(false);
  if (name == "split-share") return split(true);
  if (name == "allreduce") return all_reduce();
  if (name == "destroy") return end(false, false);
  if (name == "abort") return end(true, false);
  if (name == "destroy-all") return end(false, true);
  if (name == "abort-all") return end(true, true);
  if (name == "cycles") return cycles(std::stoi(argument));
  if (name == "reload") return reload();
  if (name == "facts") return process_facts();
  if (name == "hold") return hold(argument);
  if (name == "barrier") {
    exchange_.barrier(std::to_string(next_barrier_++), place_.rank, place_.ranks);
    return nullptr;
  }
  throw std::invalid_argument("unknown step " + step + "\n" + help());
}

}  // namespace rig
