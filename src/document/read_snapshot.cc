// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <limits>

#include "document/document.h"
#include "document/printable.h"
#include "document/read_parts.h"

namespace topoguard {
namespace json {
namespace {

constexpr std::string_view kSchema = "topoguard.host/1";

System read_system(const Node& node) {
  System system;
  system.hostname = get(node, "hostname", &Node::text);
  system.kernel = get(node, "kernel", &Node::text);
  system.container = get(node, "container", &Node::text);
  system.virtualization = get(node, "virtualization", &Node::text);
  system.modules = get(node, "modules", &Node::texts);
  system.iommu = get(node, "iommu", &Node::text);
  return system;
}

Process read_process(const Node& node) {
  Process process;
  process.cpus_allowed = get(node, "cpus_allowed", &Node::cpus);
  process.mems_allowed = get(node, "mems_allowed", &Node::cpus);
  if (const auto limit = node.member("memlock_bytes"))
    process.memlock_bytes =
        limit->integer(-1, std::numeric_limits<std::int64_t>::max(), "a number of bytes, -1 for unlimited");
  process.gpu = get(node, "gpu", &Node::count);
  return process;
}

std::vector<Plugin> read_plugins(const Node& list) {
  std::vector<Plugin> out;
  for (const Node& item : list.items()) {
    Plugin plugin;
    plugin.path = item.required("path", "the plugin's path").name();
    plugin.kind = item.required("kind", "\"net\" or \"env\"").name();
    if (const auto versions = item.member("versions")) plugin.versions = versions->texts();
    out.push_back(std::move(plugin));
  }
  return out;
}

Entry read_entry(const Node& node) {
  Entry entry;
  entry.front_end = get(node, "front_end", &Node::text);
  if (const auto config = node.member("config")) entry.config = read_variables(*config);
  entry.bootstrap = get(node, "bootstrap", &Node::name);
  return entry;
}

void check_schema(const Node& root) {
  if (root.value().is_array())
    root.fail("an object of schema " + std::string(kSchema) + " (`topoguard import` reads what iproute2 prints)");
  root.expect_object();
  const Node schema = root.required("schema", "\"" + std::string(kSchema) + "\"");
  if (schema.value() != kSchema) schema.fail("\"" + std::string(kSchema) + "\"");
}

HostSnapshot read_host(const Node& root) {
  check_schema(root);
  HostSnapshot host;
  if (const auto part = root.member("system")) host.system = read_system(*part);
  if (const auto part = root.member("nccl")) host.nccl_version = get(*part, "version", &Node::name);
  if (const auto part = root.member("env")) host.env = read_variables(*part);
  if (const auto part = root.member("links")) host.links = read_links(*part);
  if (const auto part = root.member("routes")) host.routes = read_routes(*part);
  if (const auto part = root.member("rdma")) host.rdma = read_rdma(*part);
  if (const auto part = root.member("gpus")) host.gpus = read_gpus(*part);
  if (const auto part = root.member("paths")) host.paths = read_paths(*part);
  if (const auto part = root.member("pci")) host.pci = read_pci(*part);
  if (const auto part = root.member("numa")) host.numa = read_numa(*part);
  if (const auto part = root.member("process")) host.process = read_process(*part);
  if (const auto part = root.member("peers"))
    for (const Node& item : part->items()) host.peers.push_back(item.address());
  if (const auto part = root.member("plugins")) host.plugins = read_plugins(*part);
  if (const auto part = root.member("gpu_driver")) {
    host.gpu_driver.dmabuf = get(*part, "dmabuf", &Node::boolean);
    host.gpu_driver.peermem = get(*part, "peermem", &Node::boolean);
  }
  if (const auto bytes = root.member("shm_bytes"))
    host.shm_bytes = bytes->integer(0, std::numeric_limits<std::int64_t>::max(), "a number of bytes");
  if (const auto part = root.member("topoguard")) host.topoguard = read_entry(*part);
  host.notes = get(root, "notes", &Node::texts).value_or(std::vector<std::string>());
  return host;
}

}  // namespace
}  // namespace json

ReadSnapshot read_snapshot(std::string_view text, std::string_view file_name) {
  try {
    const json::Json root = json::parse(text);
    return {json::read_host(json::Node(root)), {}};
  } catch (const json::Malformed& problem) {
    return {std::nullopt, problem.line(file_name)};
  } catch (const std::exception& problem) {
    return {std::nullopt,
            printable(file_name, 400) + ": (top level): cannot be read: " + printable(problem.what(), 200)};
  }
}

}  // namespace topoguard
