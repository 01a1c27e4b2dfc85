// SPDX-License-Identifier: Apache-2.0
// A sysfs tree of any content: each line is the number of a path, a blank, and what the file holds ("\n" is two bytes
// in the input, so that files can have several lines).
#include <algorithm>
#include <array>

#include "recorded.h"

using namespace topoguard;

namespace {

constexpr std::array kFiles = {
    "sys/class/infiniband/mlx5_0/node_type",
    "sys/class/infiniband/mlx5_0/node_guid",
    "sys/class/infiniband/mlx5_0/sys_image_guid",
    "sys/class/infiniband/mlx5_0/fw_ver",
    "sys/class/infiniband/mlx5_0/board_id",
    "sys/class/infiniband/mlx5_0/ports/1/state",
    "sys/class/infiniband/mlx5_0/ports/1/phys_state",
    "sys/class/infiniband/mlx5_0/ports/1/rate",
    "sys/class/infiniband/mlx5_0/ports/1/link_layer",
    "sys/class/infiniband/mlx5_0/ports/1/lid",
    "sys/class/infiniband/mlx5_0/ports/1/sm_lid",
    "sys/class/infiniband/mlx5_0/ports/1/gids/0",
    "sys/class/infiniband/mlx5_0/ports/1/gids/1",
    "sys/class/infiniband/mlx5_0/ports/1/gids/3",
    "sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/0",
    "sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/1",
    "sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0",
    "sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/1",
    "sys/class/infiniband/mlx5_0/ports/99999999999999999999/state",
    "sys/class/infiniband_verbs/uverbs0/ibdev",
    "sys/class/infiniband_verbs/uverbs0/dev",
    "sys/class/infiniband_verbs/abi_version",
    "sys/bus/pci/devices/0000:01:00.0/class",
    "sys/bus/pci/devices/0000:01:00.0/vendor",
    "sys/bus/pci/devices/0000:01:00.0/device",
    "sys/bus/pci/devices/0000:01:00.0/numa_node",
    "sys/bus/pci/devices/0000:01:00.0/local_cpulist",
    "sys/bus/pci/devices/0000:01:00.0/current_link_speed",
    "sys/bus/pci/devices/0000:01:00.0/current_link_width",
    "sys/bus/pci/devices/0000:01:00.0/max_link_speed",
    "sys/bus/pci/devices/0000:01:00.0/max_link_width",
    "sys/bus/pci/devices/0000:01:00.0/infiniband/mlx5_0/node_type",
    "sys/class/net/eth0/speed",
    "sys/class/net/eth0/duplex",
    "sys/class/net/eth0/operstate",
    "sys/class/net/eth0/type",
    "sys/devices/system/node/online",
    "sys/devices/system/node/node0/cpulist",
    "sys/devices/system/node/node0/cpumap",
    "sys/devices/system/node/node0/distance",
    "sys/devices/system/node/node0/meminfo",
    "sys/devices/system/cpu/online",
    "sys/devices/system/cpu/possible",
    "sys/devices/system/cpu/cpu0/topology/physical_package_id",
    "sys/class/dmi/id/product_name",
    "sys/hypervisor/type",
    "proc/self/status",
    "proc/self/limits",
    "proc/self/cgroup",
    "proc/self/mountinfo",
    "proc/meminfo",
    "proc/cpuinfo",
    "proc/modules",
    "proc/version",
    "proc/sys/kernel/osrelease",
    "proc/sys/kernel/random/boot_id",
    "proc/driver/nvidia/version",
    "proc/driver/nvidia/gpus/0000:01:00.0/information",
    "etc/hosts",
    "etc/nccl.conf",
    "etc/topoguard.conf",
    "lib/libnccl-net.so",
};

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool newline = text[i] == '\\' && i + 1 < text.size() && text[i + 1] == 'n';
    out += newline ? '\n' : text[i];
    i += newline ? 1 : 0;
  }
  return out;
}

}  // namespace

FUZZ_TARGET {
  static fuzz::RecordedMachine machine;
  machine.clear();
  auto rest = fuzz::text_of(data, size);
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const auto line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const auto blank = std::min(line.find(' '), line.size());
    unsigned number = 0;
    for (const char c : line.substr(0, std::min<std::size_t>(blank, 4)))
      number = number * 10 + static_cast<unsigned char>(c);
    machine.write(kFiles[number % kFiles.size()], unescaped(line.substr(std::min(blank + 1, line.size()))));
  }
  machine.link("../../../bus/pci/devices/0000:01:00.0", "sys/class/infiniband/mlx5_0/device");
  machine.link("../../../bus/pci/devices/0000:01:00.0", "sys/class/net/eth0/device");
  machine.collect_all();
  return 0;
}
