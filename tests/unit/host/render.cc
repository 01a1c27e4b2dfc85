// SPDX-License-Identifier: Apache-2.0
#include "render.h"

#include <fmt/format.h>

namespace topoguard::test {
namespace {

std::string line;

void put(const char* name, const std::string& value) {
  line += fmt::format(" {}={}", name, value.empty() ? "\"\"" : value);
}
void put(const char* name, const char* value) { put(name, std::string(value)); }
void put(const char* name, bool value) { put(name, value ? "true" : "false"); }
void put(const char* name, const IpAddress& value) { put(name, value.text()); }
void put(const char* name, const CpuSet& value) { put(name, value.text()); }
void put(const char* name, const std::vector<std::string>& value) {
  put(name, fmt::format("{}", fmt::join(value, ",")));
}
template <typename Number, typename = std::enable_if_t<std::is_arithmetic_v<Number> && !std::is_same_v<Number, bool>>>
void put(const char* name, Number value) {
  put(name, fmt::format("{}", value));
}
template <typename T>
void put(const char* name, const std::optional<T>& value) {
  if (value) put(name, *value);
}
void put(const char* name, const std::map<std::string, std::string>& value) {
  for (const auto& [key, text] : value) put(fmt::format("{}.{}", name, key).c_str(), text);
}

void flush(std::string& out) {
  out += line + "\n";
  line.clear();
}

void render_link(const Link& l, std::string& out) {
  line = fmt::format("link {} {}", l.ifindex, l.ifname);
  put("flags", l.flags), put("mtu", l.mtu), put("operstate", l.operstate), put("type", l.link_type),
      put("address", l.address);
  put("master", l.master), put("link", l.lower), put("link_index", l.link_index), put("link_netnsid", l.link_netnsid);
  put("kind", l.kind), put("slave_kind", l.slave_kind), put("data", l.info_data), put("slave_data", l.info_slave_data);
  put("parentbus", l.parentbus), put("parentdev", l.parentdev), put("speed_mbps", l.speed_mbps),
      put("driver", l.driver);
  put("numa_node", l.numa_node), put("physfn", l.physfn);
  flush(out);
  for (const LinkAddress& a : l.addr_info) {
    line = fmt::format("  addr {}/{} {}", a.local.text(), a.prefixlen, a.scope);
    if (a.deprecated == true) line += " deprecated";
    if (a.tentative == true) line += " tentative";
    flush(out);
  }
}

void render_rdma(const RdmaDevice& d, std::string& out) {
  line = "rdma " + d.name;
  put("node_type", d.node_type), put("driver", d.driver), put("board_id", d.board_id), put("pci", d.pci),
      put("physfn", d.physfn);
  put("numa_node", d.numa_node), put("usable", d.usable);
  flush(out);
  for (const RdmaPort& p : d.ports) {
    line = fmt::format("  port {}", p.port);
    put("state", p.state), put("phys_state", p.phys_state), put("link_layer", p.link_layer),
        put("rate_gbps", p.rate_gbps);
    put("active_mtu", p.active_mtu), put("lid", p.lid), put("sm_lid", p.sm_lid), put("netdev", p.netdev);
    if (!p.gids) line += " gids unknown";
    flush(out);
    for (const GidEntry& g : known(p.gids)) {
      line = fmt::format("    gid {} {}", g.index, g.gid.sysfs());
      put("type", g.type), put("ndev", g.ndev);
      flush(out);
    }
  }
}

}  // namespace

std::string render(const HostSnapshot& s) {
  std::string out;
  line = "system";
  put("hostname", s.system.hostname), put("kernel", s.system.kernel), put("container", s.system.container);
  put("virtualization", s.system.virtualization), put("modules", s.system.modules), put("iommu", s.system.iommu);
  flush(out);
  for (const auto& [name, value] : s.env) out += fmt::format("env {}={}\n", name, value);
  for (const auto& [name, value] : s.topoguard.config) out += fmt::format("config {}={}\n", name, value);
  if (!s.links) out += "links unknown\n";
  for (const Link& l : known(s.links)) render_link(l, out);
  if (!s.routes) out += "routes unknown\n";
  for (const Route& r : known(s.routes)) {
    line = "route " + (r.dst ? r.dst->text() : "default") + " " + std::string(family_name(r.family));
    put("via", r.gateway), put("dev", r.dev), put("metric", r.metric), put("src", r.prefsrc), put("type", r.type),
        put("table", r.table);
    put("scope", r.scope);
    if (!r.flags.empty()) put("flags", r.flags);
    for (const RouteHop& hop : r.nexthops)
      put("hop", hop.dev.value_or("?") + "/" + (hop.gateway ? hop.gateway->text() : "-"));
    flush(out);
  }
  if (!s.rdma) out += "rdma unknown\n";
  for (const RdmaDevice& d : known(s.rdma)) render_rdma(d, out);
  if (!s.gpus) out += "gpus unknown\n";
  for (const Gpu& g : known(s.gpus)) {
    line = fmt::format("gpu {}", g.index);
    put("pci", g.pci), put("numa_node", g.numa_node), put("name", g.name);
    flush(out);
  }
  if (!s.pci) out += "pci unknown\n";
  for (const PciDevice& d : known(s.pci)) {
    line = "pci " + d.id;
    put("parent", d.parent), put("class", d.device_class), put("numa_node", d.numa_node),
        put("local_cpus", d.local_cpus);
    put("acs_redirect", d.acs_redirect), put("link_gts", d.link_gts), put("link_width", d.link_width);
    put("max_link_gts", d.max_link_gts), put("max_link_width", d.max_link_width);
    flush(out);
  }
  if (!s.numa) out += "numa unknown\n";
  for (const NumaNode& n : known(s.numa)) {
    line = fmt::format("numa {}", n.node);
    put("cpus", n.cpus), put("mem_bytes", n.mem_bytes);
    flush(out);
  }
  line = "process";
  put("cpus_allowed", s.process.cpus_allowed), put("mems_allowed", s.process.mems_allowed),
      put("memlock_bytes", s.process.memlock_bytes);
  flush(out);
  for (const IpAddress& p : s.peers) out += "peer " + p.text() + "\n";
  for (const Plugin& p : known(s.plugins))
    out += fmt::format("plugin {} {} {}\n", p.kind, p.path, fmt::join(p.versions, ","));
  line = "gpu_driver";
  put("dmabuf", s.gpu_driver.dmabuf), put("peermem", s.gpu_driver.peermem);
  flush(out);
  for (const std::string& note : s.notes) out += "note " + note + "\n";
  return out;
}

}  // namespace topoguard::test
