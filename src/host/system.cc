// SPDX-License-Identifier: Apache-2.0
#include "host/system.h"

#include <sys/utsname.h>

#include "host/environment.h"
#include "host/file.h"
#include "host/notes.h"

namespace topoguard::host {
namespace {

// Modules that say what RDMA, GPUDirect or an unusual network on this host rests on.
constexpr const char* kModules[] = {
    "mlx4_core",   "mlx4_ib",   "mlx5_core", "mlx5_ib",     "bnxt_en",  "bnxt_re",    "ice",      "irdma",
    "i40iw",       "ena",       "efa",       "erdma",       "qedr",     "hns_roce",   "mana_ib",  "ionic_rdma",
    "rdma_rxe",    "siw",       "ib_core",   "ib_uverbs",   "ib_ipoib", "rdma_cm",    "nvidia",   "nvidia_peermem",
    "nv_peer_mem", "nvidia_fs", "gdrdrv",    "openvswitch", "bonding",  "virtio_net", "hv_netvsc"};

}  // namespace

std::optional<std::string> iommu(const Sources& sources) {
  const Listing units = list_directory(sources.sys_path("/class/iommu"));
  const Listing groups = list_directory(sources.sys_path("/kernel/iommu_groups"));
  if (!units && !groups) return std::nullopt;
  if (groups.names.empty()) return "off";  // units may be there and translate nothing
  if (const auto type = read_word(sources.sys_path("/kernel/iommu_groups/" + groups.names.front() + "/type")))
    return *type == "identity" ? "passthrough" : "on";
  const FileText cmdline = read_file(sources.proc_path("/cmdline"), 1 << 14);
  const std::string text = " " + std::string(trim(cmdline.text)) + " ";
  if (text.find(" iommu=pt ") != std::string::npos || text.find(" iommu.passthrough=1 ") != std::string::npos)
    return "passthrough";
  return "on";
}

void read_system(const Sources& sources, const std::vector<std::string>& entries, HostSnapshot& out) {
  if (sources.proc_is_live()) {
    utsname name{};
    if (::uname(&name) == 0) {
      out.system.hostname = name.nodename;
      out.system.kernel = name.release;
    }
  } else {
    out.system.hostname = read_word(sources.proc_path("/sys/kernel/hostname"));
    out.system.kernel = read_word(sources.proc_path("/sys/kernel/osrelease"));
  }
  out.system.container = container_kind(sources, entries);
  out.system.virtualization = virtualization(sources);
  out.system.iommu = iommu(sources);

  if (!exists(sources.sys_path("/module"))) {
    note(out, "system", sources.sys_path("/module") + " is missing; loaded modules are unknown");
    return;
  }
  std::vector<std::string> modules;
  for (const char* name : kModules)
    if (exists(sources.sys_path("/module/") + name)) modules.emplace_back(name);
  out.system.modules = std::move(modules);
}

}  // namespace topoguard::host
