// SPDX-License-Identifier: Apache-2.0
#include "host/collect.h"

#include <dlfcn.h>

#include <cerrno>

#include "host/environment.h"
#include "host/gpu_driver.h"
#include "host/link_device.h"
#include "host/links.h"
#include "host/notes.h"
#include "host/numa.h"
#include "host/nvml.h"
#include "host/pci.h"
#include "host/peers.h"
#include "host/plugins.h"
#include "host/process.h"
#include "host/rdma.h"
#include "host/routes.h"
#include "host/system.h"

namespace topoguard {
namespace {

using namespace host;

std::string own_library(const CollectOptions& options) {
  if (!options.own_library.empty()) return options.own_library;
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&front_end_name), &info) == 0 || !info.dli_fname) return {};
  return info.dli_fname;
}

}  // namespace

std::string_view front_end_name(FrontEnd front_end) {
  constexpr std::string_view names[] = {"net", "env", "preload", "exec", "tool"};
  return names[static_cast<std::size_t>(front_end)];
}

HostSnapshot collect(const Sources& sources, const CollectOptions& options) noexcept {
  const int saved = errno;
  HostSnapshot out;
  const bool tool = options.front_end == FrontEnd::tool;
  std::vector<std::string> entries;
  guarded(out, "options", [&] {
    out.nccl_version = options.nccl_version;
    out.process.gpu = options.gpu;
    out.topoguard.front_end = std::string(front_end_name(options.front_end));
    out.topoguard.bootstrap = options.bootstrap;
  });
  guarded(out, "environment", [&] {
    entries = environment_entries(sources);
    read_environment(sources, entries, options.nccl_version, out);
  });
  guarded(out, "system", [&] { read_system(sources, entries, out); });
  guarded(out, "links", [&] { read_links(sources, out); });
  guarded(out, "sysfs", [&] { read_link_devices(sources, out); });
  guarded(out, "routes", [&] { read_routes(sources, out); });
  guarded(out, "rdma", [&] { read_rdma(sources, options.try_verbs, out); });
  guarded(out, "pci", [&] { read_pci(sources, tool && options.may_read_pci_config, out); });
  if (tool && options.may_ask_nvml) guarded(out, "nvml", [&] { ask_nvml(sources, out); });
  guarded(out, "numa", [&] { read_numa(sources, out); });
  guarded(out, "process", [&] { read_process(sources, out); });
  guarded(out, "gpu_driver", [&] { read_gpu_driver(sources, out); });
  guarded(out, "peers", [&] { read_peers(sources, options.peers, tool && options.may_resolve_names, out); });
  guarded(out, "plugins", [&] { read_plugins(sources, entries, own_library(options), out); });
  errno = saved;
  return out;
}

HostSnapshot collect_drift(const Sources& sources) noexcept {
  const int saved = errno;
  HostSnapshot out;
  guarded(out, "links", [&] { read_links(sources, out); });
  guarded(out, "sysfs", [&] { read_link_devices(sources, out); });
  guarded(out, "rdma", [&] { read_rdma(sources, false, out); });
  errno = saved;
  return out;
}

}  // namespace topoguard
