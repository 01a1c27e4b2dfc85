// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "document/read_parts.h"

namespace topoguard::json {
namespace {

Gid read_gid(const Node& node) {
  const auto gid = Gid::parse(node.text());
  if (!gid) node.fail("a GID: 128 bits as an IPv6 address is written");
  return *gid;
}

std::vector<GidEntry> read_gids(const Node& list) {
  std::vector<GidEntry> out;
  for (const Node& item : list.items()) {
    GidEntry entry;
    entry.index = item.required("index", "the GID's index").count();
    entry.gid = read_gid(item.required("gid", "a GID"));
    entry.type = get(item, "type", &Node::text);
    entry.ndev = get(item, "ndev", &Node::name);
    if (!entry.gid.is_zero()) out.push_back(std::move(entry));
  }
  return out;
}

RdmaPort read_port(const Node& node) {
  RdmaPort port;
  port.port =
      static_cast<int>(node.required("port", "the port's number").integer(1, 255, "a port number from 1 to 255"));
  port.state = get(node, "state", &Node::text);
  port.phys_state = get(node, "phys_state", &Node::text);
  port.link_layer = get(node, "link_layer", &Node::text);
  port.rate_gbps = get(node, "rate_gbps", &Node::number);
  port.active_mtu = get(node, "active_mtu", &Node::count);
  port.lid = get(node, "lid", &Node::count);
  port.sm_lid = get(node, "sm_lid", &Node::count);
  port.netdev = get(node, "netdev", &Node::name);
  if (const auto gids = node.member("gids")) port.gids = read_gids(*gids);
  return port;
}

}  // namespace

std::optional<int> read_numa_node(const Node& object) {
  const auto node = object.member("numa_node");
  if (!node) return std::nullopt;
  const auto number = node->integer(-1, std::numeric_limits<int>::max(), "a NUMA node number, -1 for unknown");
  return number < 0 ? std::nullopt : std::optional<int>(static_cast<int>(number));
}

std::map<std::string, std::string> read_variables(const Node& object) {
  std::map<std::string, std::string> out;
  for (const Node& field : object.fields())
    if (!field.value().is_null()) out[field.key()] = field.text();
  return out;
}

std::vector<RdmaDevice> read_rdma(const Node& list) {
  std::vector<RdmaDevice> out;
  for (const Node& item : list.items()) {
    RdmaDevice device;
    device.name = item.required("name", "the device's name").name();
    device.node_type = get(item, "node_type", &Node::text);
    device.driver = get(item, "driver", &Node::text);
    device.board_id = get(item, "board_id", &Node::text);
    device.pci = get(item, "pci", &Node::text);
    device.physfn = get(item, "physfn", &Node::text);
    // the specification's own example writes "" for "is none"
    if (device.physfn && device.physfn->empty()) device.physfn.reset();
    device.numa_node = read_numa_node(item);
    device.usable = get(item, "usable", &Node::boolean);
    if (const auto ports = item.member("ports"))
      for (const Node& port : ports->items()) device.ports.push_back(read_port(port));
    out.push_back(std::move(device));
  }
  return out;
}

std::vector<Gpu> read_gpus(const Node& list) {
  std::vector<Gpu> out;
  for (const Node& item : list.items()) {
    Gpu gpu;
    gpu.index = item.required("index", "the GPU's number").count();
    gpu.pci = get(item, "pci", &Node::text);
    gpu.numa_node = read_numa_node(item);
    gpu.name = get(item, "name", &Node::text);
    out.push_back(std::move(gpu));
  }
  return out;
}

std::vector<GpuPath> read_paths(const Node& list) {
  std::vector<GpuPath> out;
  for (const Node& item : list.items()) {
    GpuPath path;
    path.gpu = item.required("gpu", "the GPU's number").count();
    path.device = item.required("device", "a device's name").name();
    const Node name = item.required("path", "a path class");
    const auto parsed = parse_path_class(name.text());
    if (!parsed) name.fail("one of PIX, PXB, PHB, NODE, SYS");
    path.path = *parsed;
    out.push_back(std::move(path));
  }
  return out;
}

std::vector<PciDevice> read_pci(const Node& list) {
  std::vector<PciDevice> out;
  for (const Node& item : list.items()) {
    PciDevice device;
    device.id = item.required("id", "a PCI id").name();
    device.parent = get(item, "parent", &Node::text);
    device.device_class = get(item, "class", &Node::text);
    device.numa_node = read_numa_node(item);
    device.local_cpus = get(item, "local_cpus", &Node::cpus);
    device.acs_redirect = get(item, "acs_redirect", &Node::boolean);
    device.link_gts = get(item, "link_gts", &Node::number);
    device.link_width = get(item, "link_width", &Node::count);
    device.max_link_gts = get(item, "max_link_gts", &Node::number);
    device.max_link_width = get(item, "max_link_width", &Node::count);
    out.push_back(std::move(device));
  }
  return out;
}

std::vector<NumaNode> read_numa(const Node& list) {
  std::vector<NumaNode> out;
  for (const Node& item : list.items()) {
    NumaNode node;
    node.node = item.required("node", "the NUMA node's number").count();
    node.cpus = get(item, "cpus", &Node::cpus).value_or(CpuSet());
    if (const auto bytes = item.member("mem_bytes"))
      node.mem_bytes = bytes->integer(0, std::numeric_limits<std::int64_t>::max(), "a number of bytes");
    out.push_back(std::move(node));
  }
  return out;
}

}  // namespace topoguard::json
