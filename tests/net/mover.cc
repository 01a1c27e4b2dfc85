// SPDX-License-Identifier: Apache-2.0
//
// Moves bytes between two processes through NCCL's net API and checks each of them: what a collective's proxy would do,
// without the kernels that a machine without a GPU cannot run. Channels are dealt over the devices in turn, as NCCL
// deals them.
//
//   mover --libnccl libnccl.so.2 --net Socket --rank 0 --exchange FOLDER --report FILE --channels 2 --bytes 1000000
//
// Rank 0 sends, rank 1 receives; with --both-ways every second channel goes the other way, on the same device. The
// report has {"devices": [{"name", "speed"}], "bytes": {device name: bytes}}, by this process's own device names. Exit:
// 0 all bytes were right, 1 not, 2 usage.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "exchange.h"
#include "net_endpoint.h"

namespace {

struct Options {
  std::string libnccl;
  std::string net = "Socket";
  std::string exchange;
  std::string report;
  int rank = 0;
  int channels = 2;
  bool both_ways = false;
  std::size_t bytes = 1 << 20;  // per channel
};

constexpr std::size_t kChunk = 64 * 1024;

// Differs at every place and in every channel, so that bytes out of place are seen.
char pattern(int channel, std::size_t offset) {
  return static_cast<char>((offset * 2654435761u + static_cast<std::uint32_t>(channel) * 97u) >> 13);
}

void move_bytes(rig::Connection& connection, const Options& options, int channel, bool sends) {
  for (std::size_t moved = 0; moved < options.bytes; moved += kChunk) {
    const std::size_t size = std::min(kChunk, options.bytes - moved);
    for (std::size_t index = 0; index < size; ++index) {
      connection.buffer()[index] = sends ? pattern(channel, moved + index) : '\0';
    }
    connection.transfer(size);
    for (std::size_t index = 0; index < size; ++index) {
      if (connection.buffer()[index] == pattern(channel, moved + index)) continue;
      throw std::runtime_error("channel " + std::to_string(channel) + ": wrong byte at " +
                               std::to_string(moved + index));
    }
  }
}

int run(const Options& options) {
  rig::NcclLibrary library(options.libnccl);
  rig::UniqueId unused{};
  if (library.api().get_unique_id(&unused) != 0)
    throw std::runtime_error("ncclGetUniqueId failed");  // reads NCCL's environment
  auto net = rig::open_net(library, options.net);
  const auto devices = net->devices();
  if (devices.empty()) throw std::runtime_error("the net has no device");
  const rig::Exchange exchange(options.exchange);
  std::map<std::string, std::size_t> moved;
  for (int channel = 0; channel < options.channels; ++channel) {
    const bool back = options.both_ways && channel % 2 == 1;
    const bool sends = (options.rank == 0) != back;
    const int device = channel / (options.both_ways ? 2 : 1) % static_cast<int>(devices.size());
    const std::string name = "handle." + std::to_string(channel);
    std::unique_ptr<rig::Listener> listener;
    std::unique_ptr<rig::Connection> connection;
    if (sends) {
      connection = net->connect(device, exchange.get(name), kChunk);
    } else {
      listener = net->listen(device);
      exchange.put(name, listener->handle());
      connection = listener->accept(kChunk);
    }
    move_bytes(*connection, options, channel, sends);
    exchange.barrier(std::to_string(channel), options.rank, 2);  // nobody closes before both are done
    moved[devices[static_cast<std::size_t>(device)].name] += options.bytes;
  }
  nlohmann::json report{{"devices", nlohmann::json::array()}, {"bytes", moved}};
  for (const rig::NetDevice& device : devices) {
    report["devices"].push_back({{"name", device.name}, {"speed", device.speed}});
  }
  std::ofstream(options.report) << report << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Moves checked bytes between two processes through NCCL's net API");
  Options options;
  app.add_option("--libnccl", options.libnccl, "path of libnccl.so.2")->required();
  app.add_option("--net", options.net, "Socket or IB: NCCL's own; else the path of a net plugin");
  app.add_option("--rank", options.rank, "0 sends, 1 receives")->required()->check(CLI::Range(0, 1));
  app.add_option("--channels", options.channels, "connections, one after the other");
  app.add_flag("--both-ways", options.both_ways, "every second channel goes from rank 1 to rank 0");
  app.add_option("--bytes", options.bytes, "per channel");
  app.add_option("--exchange", options.exchange, "folder that both share, empty at start")->required();
  app.add_option("--report", options.report, "file for what was moved")->required();
  try {
    app.parse(argc, argv);
    return run(options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mover %d: %s\n", options.rank, error.what());
    return 1;
  }
}
