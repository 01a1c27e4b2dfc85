// SPDX-License-Identifier: Apache-2.0
// What many GID tables cost: collect and decide over a hand-made /sys of RoCE adapters, in turn with reading each GID's
// file once with open, read and close, the least that NCCL's own look at the same tables takes. One line of JSON:
// milliseconds of each round. Usage: look_hcas FOLDER DEVICES GIDS ROUNDS
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "../support/hca_tree.h"
#include "decide/decide.h"
#include "host/collect.h"
#include "policy/policy_from.h"

namespace {

constexpr int kUsed = 8;

double milliseconds() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Returns the bytes, so that nothing of it can be left out.
long read_plainly(const std::string& root, int devices, int gids) {
  long bytes = 0;
  char text[64];
  for (int device = 0; device < devices; ++device)
    for (int i = 0; i < gids; ++i) {
      const std::string path =
          root + "/class/infiniband/mlx5_" + std::to_string(device) + "/ports/1/gids/" + std::to_string(i);
      const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
      if (fd < 0) return 0;
      bytes += read(fd, text, sizeof text);
      close(fd);
    }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return std::fprintf(stderr, "usage: look_hcas FOLDER DEVICES GIDS ROUNDS\n"), 2;
  const std::string root = argv[1];
  const int devices = std::atoi(argv[2]), gids = std::atoi(argv[3]), rounds = std::atoi(argv[4]);
  test::make_hca_tree(root, devices, gids, kUsed);
  topoguard::Sources sources;
  sources.sys = root + "/sys";
  sources.dev = root + "/dev";
  sources.proc = sources.etc = sources.netlink = root;
  sources.live_environment = false;
  topoguard::CollectOptions options;
  options.nccl_version = "2.28.9";
  std::vector<double> collected, decided, plain;
  for (int round = -1; round < rounds; ++round) {
    const double start = milliseconds();
    const topoguard::HostSnapshot host = topoguard::collect(sources, options);
    const double between = milliseconds();
    const topoguard::Decision decision = topoguard::decide(host, topoguard::policy_from(host));
    const double end = milliseconds();
    const long bytes = read_plainly(sources.sys, devices, gids);
    const double last = milliseconds();
    std::size_t found = 0;
    for (const auto& device : host.rdma.value())
      for (const auto& port : device.ports) found += port.gids.value().size();
    if (found != static_cast<std::size_t>(devices) * kUsed || bytes != 40L * devices * gids ||
        decision.devices.size() != static_cast<std::size_t>(devices))
      return std::fprintf(stderr, "look_hcas: not all was read: %zu GIDs, %ld bytes\n", found, bytes), 1;
    if (round < 0) continue;
    collected.push_back(between - start);
    decided.push_back(end - between);
    plain.push_back(last - end);
  }
  std::printf("%s\n",
              nlohmann::json{{"collect_ms", collected}, {"decide_ms", decided}, {"plain_ms", plain}}.dump().c_str());
  return 0;
}
