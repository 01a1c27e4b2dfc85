// SPDX-License-Identifier: Apache-2.0
#include "nccl_rules/hcas.h"

#include <algorithm>

#include "nccl_rules/gid_search.h"

namespace topoguard {

std::string_view link_layer(const RdmaPort& port) {
  if (port.link_layer) {
    if (*port.link_layer == "InfiniBand" || *port.link_layer == "Ethernet") return *port.link_layer;
    return "";
  }
  // A LID of 0 or 65535 is none.
  if (port.lid && *port.lid > 0 && *port.lid < 65535) return "InfiniBand";
  for (const auto& entry : known(port.gids))
    if (roce_version(entry) == 2 || entry.gid.is_ipv4_mapped()) return "Ethernet";
  if (port.netdev) return "Ethernet";
  return "";
}

bool nccl_can_take(const RdmaDevice& device, const RdmaPort& port) {
  if (device.usable && !*device.usable) return false;
  if (port.state && *port.state != "ACTIVE") return false;
  return !link_layer(port).empty();
}

std::vector<NcclPort> nccl_hcas(const NcclRelease& release, const std::vector<RdmaDevice>& devices,
                                const std::optional<NameList>& list) {
  std::vector<NcclPort> found;
  for (const auto& device : devices) {
    auto ports = std::vector<const RdmaPort*>();
    for (const auto& port : device.ports) ports.push_back(&port);
    std::stable_sort(ports.begin(), ports.end(), [](const auto* a, const auto* b) { return a->port < b->port; });
    for (const auto* port : ports)
      if (nccl_can_take(device, *port) && (!list || list->takes(device.name, port->port)))
        found.push_back({&device, port});
  }
  if (release.sorts_hcas_by_pci())
    std::stable_sort(found.begin(), found.end(), [](const NcclPort& a, const NcclPort& b) {
      return a.device->pci.value_or("") < b.device->pci.value_or("");
    });
  if (found.size() > static_cast<std::size_t>(release.max_hcas())) found.resize(release.max_hcas());
  return found;
}

}  // namespace topoguard
