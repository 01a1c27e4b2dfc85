// SPDX-License-Identifier: Apache-2.0
#include "host/numa.h"

#include "host/file.h"
#include "host/notes.h"

namespace topoguard::host {
namespace {

constexpr std::size_t kListLimit = 1 << 16;  // a list of every second of 8192 CPUs has 24 KiB

// "Node 0 MemTotal:  1234 kB" and "MemTotal:  1234 kB".
std::optional<std::int64_t> memory(const std::string& path) {
  const FileText file = read_file(path, kListLimit);
  const auto at = file.text.find("MemTotal:");
  if (at == std::string::npos) return std::nullopt;
  const auto line = std::string_view(file.text).substr(at + 9, file.text.find('\n', at) - at - 9);
  const auto end = line.rfind(" kB");
  const auto kib = end == std::string_view::npos ? std::nullopt : parse_number(trim(line.substr(0, end)));
  if (!kib || *kib < 0 || *kib > INT64_MAX / 1024) return std::nullopt;
  return *kib * 1024;
}

}  // namespace

void read_numa(const Sources& sources, HostSnapshot& out) {
  const std::string at = sources.sys_path("/devices/system/node");
  const Listing listing = list_directory(at);
  std::vector<NumaNode> nodes;
  if (!listing) {
    const FileText online = read_file(sources.sys_path("/devices/system/cpu/online"), kListLimit);
    const auto cpus = online ? CpuSet::parse(trim(online.text)) : std::nullopt;
    if (!cpus || cpus->empty()) {
      note(out, "numa", at + " could not be listed (" + error_text(listing.error) + "); NUMA nodes are unknown");
      return;
    }
    nodes.push_back({0, *cpus, memory(sources.proc_path("/meminfo"))});
    out.numa = std::move(nodes);
    return;
  }
  for (const std::string& name : listing.names) {
    if (name.compare(0, 4, "node") != 0) continue;
    const auto number = parse_number(std::string_view(name).substr(4));
    if (!number || *number < 0 || *number > 1 << 20) continue;
    const FileText list = read_file(at + "/" + name + "/cpulist", kListLimit);
    const auto cpus = list ? CpuSet::parse(trim(list.text)) : std::nullopt;
    if (!cpus) {
      note(out, "numa",
           at + "/" + name + "/cpulist " +
               (list ? "is no list of CPUs" : "could not be read (" + error_text(list.error) + ")") +
               "; NUMA nodes are unknown");
      return;
    }
    nodes.push_back({static_cast<int>(*number), *cpus, memory(at + "/" + name + "/meminfo")});
  }
  if (nodes.empty()) {
    note(out, "numa", at + " has no node; NUMA nodes are unknown");
    return;
  }
  out.numa = std::move(nodes);
}

}  // namespace topoguard::host
