// SPDX-License-Identifier: Apache-2.0
#include "report/path_lines.h"

#include <fmt/format.h>

#include "document/printable.h"
#include "report/phrases.h"

namespace topoguard {
namespace {

constexpr std::size_t kLine = 300;

std::string number(double value) { return fmt::format("{:g}", value); }

const Link* link_of(const HostSnapshot& host, const std::string& name) {
  for (const Link& link : known(host.links))
    if (link.ifname == name) return &link;
  return nullptr;
}

const RdmaPort* port_of(const HostSnapshot& host, const HcaChoice& hca) {
  for (const RdmaDevice& device : known(host.rdma))
    for (const RdmaPort& port : device.ports)
      if (device.name == hca.name && port.port == hca.port) return &port;
  return nullptr;
}

std::string interface_line(const HostSnapshot& host, const SocketChoice& socket, const std::string& ifname) {
  std::string line = "interface " + interface_phrase(socket, ifname);
  const Link* link = link_of(host, ifname);
  if (link == nullptr) return line;
  line += link->kind ? ": " + *link->kind : ":" + std::string(link->parentbus ? " on " + *link->parentbus : " device");
  if (link->driver) line += ", driver " + *link->driver;
  line += link->speed_mbps && *link->speed_mbps > 0
              ? ", " + number(static_cast<double>(*link->speed_mbps) / 1000) + " Gb/s"
              : std::string(", speed unknown");
  if (link->mtu) line += ", MTU " + std::to_string(*link->mtu);
  return line;
}

std::string hca_line(const HostSnapshot& host, const HcaChoice& hca) {
  std::string line = "hca " + hca_phrase(hca) + ": " + (hca.link_layer.empty() ? "link layer unknown" : hca.link_layer);
  if (hca.rate_gbps) line += ", " + number(*hca.rate_gbps) + " Gb/s";
  if (const RdmaPort* port = port_of(host, hca); port != nullptr && port->active_mtu)
    line += ", MTU " + std::to_string(*port->active_mtu);
  if (hca.netdev) line += ", netdev " + *hca.netdev;
  if (hca.numa_node) line += ", NUMA node " + std::to_string(*hca.numa_node);
  return line;
}

std::string gid_line(const HostSnapshot& host, const HcaChoice& hca) {
  std::string line = "gid " + hca_phrase(hca) + ": ";
  if (!hca.gid_index) return line + "NCCL takes the port's first entry";
  line += "index " + std::to_string(*hca.gid_index);
  if (hca.gid) line += ", " + hca.gid->text();
  const RdmaPort* port = port_of(host, hca);
  if (port == nullptr) return line;
  for (const GidEntry& entry : known(port->gids))
    if (entry.index == *hca.gid_index && entry.type) line += ", " + *entry.type;
  return line;
}

std::string affinity_line(const GpuChoice& gpu) {
  std::string line = "affinity GPU " + std::to_string(gpu.gpu) + ": ";
  line += gpu.numa_node ? "NUMA node " + std::to_string(*gpu.numa_node) : "NUMA node unknown";
  const std::string cpus = gpu.cpus.text();
  line += cpus.empty() ? ", CPUs left alone" : ", CPUs " + cpus;
  if (gpu.nearest.empty()) return line;
  line += ", nearest";
  for (std::size_t i = 0; i < gpu.nearest.size(); ++i) line += (i > 0 ? ", " : " ") + gpu.nearest[i];
  return gpu.path ? line + " (" + std::string(path_class_name(*gpu.path)) + ")" : line;
}

}  // namespace

Subject subject_of(const RuleMatch& match, const Decision& decision) {
  const auto has = [&](std::string_view word) { return match.rule.find(word) != std::string::npos; };
  if (has("steering")) return Subject::steering;
  if (has("affinity") || has("numa")) return Subject::affinity;
  if (has("gid")) return Subject::gid;
  for (const DeviceVerdict& device : decision.devices)
    if (device.name == match.device) return device.kind == DeviceKind::netdev ? Subject::interface : Subject::hca;
  return Subject::steering;
}

std::vector<std::string> path_lines(const HostSnapshot& host, const Policy& policy, const Decision& decision) {
  std::vector<std::string> lines;
  const auto add = [&](LogLevel level, Subject subject, const auto& make) {
    if (policy.shows(level, subject)) lines.push_back(printable(make(), kLine));
  };
  for (const std::string& ifname : decision.socket.ifnames)
    add(LogLevel::paths, Subject::interface, [&] { return interface_line(host, decision.socket, ifname); });
  for (const HcaChoice& hca : decision.hcas) add(LogLevel::paths, Subject::hca, [&] { return hca_line(host, hca); });
  for (const HcaChoice& hca : decision.hcas)
    if (hca.link_layer == "Ethernet") add(LogLevel::paths, Subject::gid, [&] { return gid_line(host, hca); });
  for (const GpuChoice& gpu : decision.gpus)
    add(LogLevel::paths, Subject::affinity, [&] { return affinity_line(gpu); });
  for (const RuleMatch& match : decision.trace)
    add(LogLevel::debug, subject_of(match, decision), [&] {
      return "rule " + (match.device.empty() ? std::string() : match.device + ": ") + match.rule + ": " + match.effect;
    });
  return lines;
}

}  // namespace topoguard
