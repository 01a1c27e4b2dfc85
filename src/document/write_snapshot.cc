// SPDX-License-Identifier: Apache-2.0
#include "document/document.h"
#include "document/write_common.h"

namespace topoguard {
namespace json {
namespace {

Ordered write_variables(const std::map<std::string, std::string>& variables) {
  Ordered out = Ordered::object();
  for (const auto& [name, text] : variables) out[name] = text;
  return out;
}

Ordered write_system(const System& system) {
  Ordered out = Ordered::object();
  put(out, "hostname", system.hostname);
  put(out, "kernel", system.kernel);
  put(out, "container", system.container);
  put(out, "virtualization", system.virtualization);
  put(out, "modules", system.modules);
  put(out, "iommu", system.iommu);
  return out;
}

Ordered write_link_address(const LinkAddress& address) {
  Ordered out = Ordered::object();
  out["family"] = family_name(address.family());
  out["local"] = value(address.local);
  out["prefixlen"] = address.prefixlen;
  if (!address.scope.empty()) out["scope"] = address.scope;
  put(out, "deprecated", address.deprecated);
  put(out, "tentative", address.tentative);
  if (!address.label.empty()) out["label"] = address.label;
  return out;
}

Ordered write_linkinfo(const Link& link) {
  Ordered out = Ordered::object();
  put(out, "info_kind", link.kind);
  if (!link.info_data.empty()) out["info_data"] = write_variables(link.info_data);
  put(out, "info_slave_kind", link.slave_kind);
  if (!link.info_slave_data.empty()) out["info_slave_data"] = write_variables(link.info_slave_data);
  return out;
}

Ordered write_link(const Link& link) {
  Ordered out = Ordered::object();
  out["ifindex"] = link.ifindex;
  out["ifname"] = link.ifname;
  out["flags"] = link.flags;
  put(out, "mtu", link.mtu);
  put(out, "operstate", link.operstate);
  put(out, "link_type", link.link_type);
  put(out, "address", link.address);
  put(out, "master", link.master);
  put(out, "link", link.lower);
  put(out, "link_index", link.link_index);
  put(out, "link_netnsid", link.link_netnsid);
  put_part(out, "linkinfo", write_linkinfo(link));
  put(out, "parentbus", link.parentbus);
  put(out, "parentdev", link.parentdev);
  put(out, "speed_mbps", link.speed_mbps);
  put(out, "driver", link.driver);
  put(out, "numa_node", link.numa_node);
  put(out, "physfn", link.physfn);
  Ordered& addresses = out["addr_info"] = Ordered::array();
  for (const LinkAddress& address : link.addr_info) addresses.push_back(write_link_address(address));
  return out;
}

void put_hop(Ordered& out, Family family, const std::optional<IpAddress>& gateway,
             const std::optional<std::string>& dev) {
  if (gateway && gateway->family != family)
    out["via"] = {{"family", family_name(gateway->family)}, {"host", gateway->text()}};
  else
    put(out, "gateway", gateway);
  put(out, "dev", dev);
}

// What a reader takes a default route for that names no family: see host-snapshot.md, "routes".
Family implied_family(const Route& route) {
  for (const RouteHop& hop : route.nexthops)
    if (hop.gateway && hop.gateway->family != route.family) return Family::inet;
  if (route.gateway) return route.gateway->family == route.family ? route.family : Family::inet;
  for (const RouteHop& hop : route.nexthops)
    if (hop.gateway) return hop.gateway->family;
  return route.prefsrc ? route.prefsrc->family : Family::inet;
}

Ordered write_route(const Route& route) {
  Ordered out = Ordered::object();
  put(out, "type", route.type);
  if (route.dst)
    out["dst"] = route.dst->text();
  else
    out["dst"] = implied_family(route) == route.family ? "default"
                 : route.family == Family::inet        ? "0.0.0.0/0"
                                                       : "::/0";
  put_hop(out, route.family, route.gateway, route.dev);
  put(out, "table", route.table);
  put(out, "scope", route.scope);
  put(out, "prefsrc", route.prefsrc);
  put(out, "metric", route.metric);
  if (!route.flags.empty()) out["flags"] = route.flags;
  for (const RouteHop& hop : route.nexthops) {
    Ordered item = Ordered::object();
    put_hop(item, route.family, hop.gateway, hop.dev);
    out["nexthops"].push_back(std::move(item));
  }
  return out;
}

Ordered write_gid(const GidEntry& entry) {
  Ordered out = {{"index", entry.index}, {"gid", entry.gid.sysfs()}};
  put(out, "type", entry.type);
  put(out, "ndev", entry.ndev);
  return out;
}

Ordered write_port(const RdmaPort& port) {
  Ordered out = {{"port", port.port}};
  put(out, "state", port.state);
  put(out, "phys_state", port.phys_state);
  put(out, "link_layer", port.link_layer);
  put(out, "rate_gbps", port.rate_gbps);
  put(out, "active_mtu", port.active_mtu);
  put(out, "lid", port.lid);
  put(out, "sm_lid", port.sm_lid);
  put(out, "netdev", port.netdev);
  put_list(out, "gids", port.gids, write_gid);
  return out;
}

Ordered write_rdma(const RdmaDevice& device) {
  Ordered out = {{"name", device.name}};
  put(out, "node_type", device.node_type);
  put(out, "driver", device.driver);
  put(out, "board_id", device.board_id);
  put(out, "pci", device.pci);
  put(out, "physfn", device.physfn);
  put(out, "numa_node", device.numa_node);
  put(out, "usable", device.usable);
  Ordered& ports = out["ports"] = Ordered::array();
  for (const RdmaPort& port : device.ports) ports.push_back(write_port(port));
  return out;
}

Ordered write_gpu(const Gpu& gpu) {
  Ordered out = {{"index", gpu.index}};
  put(out, "pci", gpu.pci);
  put(out, "numa_node", gpu.numa_node);
  put(out, "name", gpu.name);
  return out;
}

Ordered write_path(const GpuPath& path) {
  return {{"gpu", path.gpu}, {"device", path.device}, {"path", path_class_name(path.path)}};
}

Ordered write_pci(const PciDevice& device) {
  Ordered out = {{"id", device.id}};
  put(out, "parent", device.parent);
  put(out, "class", device.device_class);
  put(out, "numa_node", device.numa_node);
  put(out, "local_cpus", device.local_cpus);
  put(out, "acs_redirect", device.acs_redirect);
  put(out, "link_gts", device.link_gts);
  put(out, "link_width", device.link_width);
  put(out, "max_link_gts", device.max_link_gts);
  put(out, "max_link_width", device.max_link_width);
  return out;
}

Ordered write_numa(const NumaNode& node) {
  Ordered out = {{"node", node.node}, {"cpus", node.cpus.text()}};
  put(out, "mem_bytes", node.mem_bytes);
  return out;
}

Ordered write_process(const Process& process) {
  Ordered out = Ordered::object();
  put(out, "cpus_allowed", process.cpus_allowed);
  put(out, "mems_allowed", process.mems_allowed);
  put(out, "memlock_bytes", process.memlock_bytes);
  put(out, "gpu", process.gpu);
  return out;
}

Ordered write_plugin(const Plugin& plugin) {
  return {{"path", plugin.path}, {"kind", plugin.kind}, {"versions", plugin.versions}};
}

Ordered write_gpu_driver(const GpuDriver& driver) {
  Ordered out = Ordered::object();
  put(out, "dmabuf", driver.dmabuf);
  put(out, "peermem", driver.peermem);
  return out;
}

Ordered write_entry(const Entry& entry) {
  Ordered out = Ordered::object();
  put(out, "front_end", entry.front_end);
  if (!entry.config.empty()) out["config"] = write_variables(entry.config);
  put(out, "bootstrap", entry.bootstrap);
  return out;
}

}  // namespace
}  // namespace json

std::string write_snapshot(const HostSnapshot& host, Layout layout) {
  using namespace json;
  Ordered out = {{"schema", "topoguard.host/1"}};
  put_part(out, "system", write_system(host.system));
  if (host.nccl_version) out["nccl"] = {{"version", *host.nccl_version}};
  out["env"] = write_variables(host.env);
  put_list(out, "links", host.links, write_link);
  put_list(out, "routes", host.routes, write_route);
  put_list(out, "rdma", host.rdma, write_rdma);
  put_list(out, "gpus", host.gpus, write_gpu);
  put_list(out, "paths", host.paths, write_path);
  put_list(out, "pci", host.pci, write_pci);
  put_list(out, "numa", host.numa, write_numa);
  put_part(out, "process", write_process(host.process));
  for (const IpAddress& peer : host.peers) out["peers"].push_back(peer.text());
  put_list(out, "plugins", host.plugins, write_plugin);
  put_part(out, "gpu_driver", write_gpu_driver(host.gpu_driver));
  put(out, "shm_bytes", host.shm_bytes);
  put_part(out, "topoguard", write_entry(host.topoguard));
  if (!host.notes.empty()) out["notes"] = host.notes;
  return dump(out, layout);
}

}  // namespace topoguard
