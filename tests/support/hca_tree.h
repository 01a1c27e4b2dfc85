// SPDX-License-Identifier: Apache-2.0
// A /sys of RoCE adapters as the kernel lays it out (Documentation/ABI/stable/sysfs-class-infiniband), made by hand:
// one PCI function each, one port, a GID table of which the first entries are used.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace test {

inline void write_line(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file) << text << '\n';
}

inline std::string hex4(int number) {
  char text[8];
  std::snprintf(text, sizeof text, "%04x", static_cast<unsigned>(number) & 0xffff);
  return text;
}

inline void make_port(const std::filesystem::path& port, int device, int gids, int used) {
  namespace fs = std::filesystem;
  for (const char* folder : {"gids", "gid_attrs/types", "gid_attrs/ndevs"}) fs::create_directories(port / folder);
  write_line(port / "state", "4: ACTIVE");
  write_line(port / "phys_state", "5: LinkUp");
  write_line(port / "link_layer", "Ethernet");
  write_line(port / "rate", "100 Gb/sec (4X EDR)");
  write_line(port / "lid", "0x0");
  write_line(port / "sm_lid", "0x0");
  for (int i = 0; i < gids; ++i) {
    const std::string index = std::to_string(i);
    if (i > used) {  // one file under many names: the first unused entry's
      fs::create_hard_link(port / "gids" / std::to_string(used), port / "gids" / index);
      continue;
    }
    write_line(port / "gids" / index,
               i == used ? "0000:0000:0000:0000:0000:0000:0000:0000"
               : i < 2   ? "fe80:0000:0000:0000:0200:00ff:fe00:" + hex4(device)
                         : "0000:0000:0000:0000:0000:ffff:0a" + hex4(i).substr(2) + ":" + hex4(device + 1));
    if (i == used) continue;
    write_line(port / "gid_attrs/types" / index, i % 2 == 0 ? "IB/RoCE v1" : "RoCE v2");
    write_line(port / "gid_attrs/ndevs" / index, "eth" + std::to_string(device));
  }
}

/// root/sys/class/infiniband/mlx5_0 ... and root/dev/infiniband/uverbs0 ...: 1 to 256 devices, 0 <= used < gids.
inline void make_hca_tree(const std::filesystem::path& root, int devices, int gids, int used) {
  namespace fs = std::filesystem;
  const fs::path classes = root / "sys/class";
  fs::create_directories(classes / "infiniband");
  fs::create_directories(root / "dev/infiniband");
  for (int device = 0; device < devices; ++device) {
    const std::string name = "mlx5_" + std::to_string(device), node = "uverbs" + std::to_string(device);
    const std::string id = "0000:" + hex4(device / 8).substr(2) + ":00." + std::to_string(device % 8);
    const fs::path pci = root / "sys/devices/pci0000:00" / id, at = pci / "infiniband" / name;
    make_port(at / "ports/1", device, gids, used);
    write_line(at / "node_type", "1: CA");
    write_line(at / "board_id", "MT_0000000001");
    write_line(pci / "numa_node", "0");
    fs::create_directory_symlink("../../../" + id, at / "device");
    fs::create_directory_symlink("../../devices/pci0000:00/" + id + "/infiniband/" + name,
                                 classes / "infiniband" / name);
    fs::create_directories(classes / "infiniband_verbs" / node);
    write_line(classes / "infiniband_verbs" / node / "ibdev", name);
    write_line(root / "dev/infiniband" / node, "");
  }
}

}  // namespace test
