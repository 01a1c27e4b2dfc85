// SPDX-License-Identifier: Apache-2.0
// One of two ranks that reduce on real GPU memory, and check every value. Both may use one GPU: with two NCCL_HOSTIDs
// they are two hosts to NCCL, which then goes over the network transport.
//
//   reduce --libnccl libnccl.so.2 --rank 0 --exchange FOLDER --report FILE [--sizes 8,65536] [--seconds 0.5]
//
// The report is JSON: {"release", "init_s", "sizes": [{"bytes", "us", "bus_bytes_per_s"}]} (for two ranks the bus moves
// what each rank sends: bytes over time). Exit: 0 all values were right, 1 not, 2 usage.
#include <dlfcn.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "../net/exchange.h"
#include "../net/nccl_api.h"
#include "bench/cuda.h"

namespace {

constexpr int kFloat32 = 7, kSum = 0;  // nccl.h: ncclFloat32, ncclSum

struct Options {
  std::string libnccl, exchange, report;
  std::vector<std::size_t> sizes{8, 1024, 65536, 1048576, 16777216, 67108864};
  int rank = 0, device = 0;
  double seconds = 0.5;
};

template <typename Function>
Function* find(void* library, const char* name) {
  auto* function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) throw std::runtime_error(std::string("there is no ") + name);
  return function;
}

void need(const char* call, int result) {
  if (result != 0) throw std::runtime_error(std::string(call) + " returned " + std::to_string(result));
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

float value(int rank, std::size_t index) { return static_cast<float>(index % 1021) + static_cast<float>(rank) * 0.5f; }

// Whole and half numbers below 4096: sums are exact.
void check(const std::vector<float>& sum) {
  for (std::size_t i = 0; i < sum.size(); ++i)
    if (sum[i] != value(0, i) + value(1, i)) throw std::runtime_error("a wrong sum at element " + std::to_string(i));
}

int run(const Options& options) {
  auto& cuda = topoguard::bench::Cuda::of_device(options.device);
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  void* stream = nullptr;
  need("cuStreamCreate", find<int(void**, unsigned)>(driver, "cuStreamCreate")(&stream, 1));
  auto* wait = find<int(void*)>(driver, "cuStreamSynchronize");

  void* nccl = dlopen(options.libnccl.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (nccl == nullptr) throw std::runtime_error(dlerror());
  int release = 0;
  need("ncclGetVersion", find<int(int*)>(nccl, "ncclGetVersion")(&release));
  const rig::Exchange exchange(options.exchange);
  rig::UniqueId id{};
  if (options.rank == 0) {
    need("ncclGetUniqueId", find<int(rig::UniqueId*)>(nccl, "ncclGetUniqueId")(&id));
    exchange.put("id", std::string(id.bytes, sizeof id.bytes));
  } else {
    exchange.get("id").copy(id.bytes, sizeof id.bytes);
  }
  rig::Communicator* communicator = nullptr;
  const double start = now();
  need("ncclCommInitRank", find<int(rig::Communicator**, int, rig::UniqueId, int)>(nccl, "ncclCommInitRank")(
                               &communicator, 2, id, options.rank));
  nlohmann::json report{{"release", release}, {"init_s", now() - start}, {"sizes", nlohmann::json::array()}};
  auto* reduce = find<int(const void*, void*, std::size_t, int, int, rig::Communicator*, void*)>(nccl, "ncclAllReduce");

  for (const std::size_t bytes : options.sizes) {
    const std::size_t count = bytes / sizeof(float);
    std::vector<float> own(count), sum(count);
    for (std::size_t i = 0; i < count; ++i) own[i] = value(options.rank, i);
    const auto from = cuda.allocate(bytes), to = cuda.allocate(bytes);
    cuda.to_device(from, own.data(), bytes);
    const auto once = [&](int times) {
      const double began = now();
      for (int i = 0; i < times; ++i)
        need("ncclAllReduce", reduce(reinterpret_cast<void*>(from), reinterpret_cast<void*>(to), count, kFloat32, kSum,
                                     communicator, stream));
      need("cuStreamSynchronize", wait(stream));
      return now() - began;
    };
    once(5);
    // Both ranks must do the same number: rank 0 decides.
    const std::string name = "times." + std::to_string(bytes);
    if (options.rank == 0)
      exchange.put(name,
                   std::to_string(std::max(1, std::min(5000, static_cast<int>(options.seconds / (once(5) / 5))))));
    else
      once(5);
    const int times = std::stoi(exchange.get(name));
    const double each = once(times) / times;
    cuda.to_host(sum.data(), to, bytes);
    check(sum);
    report["sizes"].push_back(
        {{"bytes", bytes}, {"us", each * 1e6}, {"bus_bytes_per_s", static_cast<double>(bytes) / each}});
    cuda.release(from);
    cuda.release(to);
  }
  need("ncclCommDestroy", find<int(rig::Communicator*)>(nccl, "ncclCommDestroy")(communicator));
  std::ofstream(options.report) << report << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("One of two ranks that reduce on real GPU memory, and check every value");
  Options options;
  app.add_option("--libnccl", options.libnccl, "path of libnccl.so.2")->required();
  app.add_option("--rank", options.rank, "0 or 1")->required()->check(CLI::Range(0, 1));
  app.add_option("--device", options.device, "CUDA device");
  app.add_option("--sizes", options.sizes, "bytes")->delimiter(',');
  app.add_option("--seconds", options.seconds, "about how long each size is measured");
  app.add_option("--exchange", options.exchange, "folder that both share, empty at start")->required();
  app.add_option("--report", options.report, "file for the figures")->required();
  try {
    app.parse(argc, argv);
    return run(options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "reduce %d: %s\n", options.rank, error.what());
    return 1;
  }
}
