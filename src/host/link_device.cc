// SPDX-License-Identifier: Apache-2.0
#include "host/link_device.h"

#include <algorithm>
#include <set>

#include "host/ethtool.h"
#include "host/file.h"
#include "host/notes.h"

namespace topoguard::host {
namespace {

std::string class_net(const Sources& sources, const Link& link) {
  return sources.sys_path("/class/net/" + link.ifname);
}

// Every namespace has `lo` with ifindex 1 and, where tunnel modules are loaded, tunl0, gre0, gretap0, ... at the next
// ones, none of them with a hardware address: only such an address tells namespaces apart.
bool has_own_address(const Link& link) {
  return (link.link_type == "ether" || link.link_type == "infiniband") && link.address &&
         link.address->find_first_not_of("0:") != std::string::npos;
}

// Whether sysfs shows the namespace that netlink showed: a few links must have the same ifindex and hardware address
// there.
bool sysfs_is_ours(const Sources& sources, const std::vector<Link>& links) {
  const bool telling = std::any_of(links.begin(), links.end(), has_own_address);
  int asked = 0;
  for (const Link& link : links) {
    if (telling ? !has_own_address(link) : link.ifindex == 1 && links.size() > 1) continue;
    if (read_number(class_net(sources, link) + "/ifindex") != link.ifindex) return false;
    const auto address = read_word(class_net(sources, link) + "/address");
    if (link.address && link.link_type == "ether" && address != link.address) return false;
    if (++asked == 3) break;
  }
  return asked > 0;
}

bool aggregates(const std::optional<std::string>& kind) { return kind && (*kind == "bond" || *kind == "team"); }

bool speed_matters(const Link& link) {
  if (link.parentdev || aggregates(link.kind) || aggregates(link.slave_kind)) return true;
  if (link.link_type == "loopback" || !link.has_flag("UP")) return false;
  return std::any_of(link.addr_info.begin(), link.addr_info.end(),
                     [](const LinkAddress& a) { return a.scope != "link" && a.scope != "host"; });
}

// Kernels before 5.14 do not send the parent: /sys/class/net/NAME points to it, ".../0000:07:00.0/net/eth0".
void find_parent(const Sources& sources, Link& link) {
  const auto target = link_target(class_net(sources, link));
  if (!target || target->find("/virtual/") != std::string::npos) return;
  const auto end = target->rfind("/net/");
  if (end == std::string::npos) return;
  const auto bus = link_name(class_net(sources, link) + "/device/subsystem");
  if (!bus) return;
  link.parentdev = base_name(std::string_view(*target).substr(0, end));
  link.parentbus = bus;
}

void read_bus_device(const Sources& sources, const std::string& root, Link& link) {
  if (link.parentdev->find('/') != std::string::npos || link.parentbus->find('/') != std::string::npos) return;
  const std::string at = sources.sys_path("/bus/" + *link.parentbus + "/devices/" + *link.parentdev);
  if (auto driver = link_name(at + "/driver")) link.driver = std::move(driver);
  if (auto physfn = link_name(at + "/physfn"); physfn && is_pci_id(*physfn)) link.physfn = std::move(physfn);
  // Most devices tell their node themselves; the canonical path, a dozen system calls, is for those that do not.
  if (const FileText own = read_file(at + "/numa_node")) {
    const auto node = parse_number(trim(own.text));
    if (node && *node >= 0 && *node <= 1 << 20) link.numa_node = static_cast<int>(*node);
  } else if (const auto directory = real_path(at)) {
    link.numa_node = numa_node_above(*directory, root);
  }
}

}  // namespace

std::optional<int> numa_node_above(std::string directory, const std::string& root) {
  while (directory.size() > root.size() + 1 && directory.compare(0, root.size(), root) == 0) {
    const FileText file = read_file(directory + "/numa_node");
    if (file) {
      const auto node = parse_number(trim(file.text));
      if (!node || *node < 0 || *node > 1 << 20) return std::nullopt;
      return static_cast<int>(*node);
    }
    directory.resize(directory.rfind('/'));
  }
  return std::nullopt;
}

void read_link_devices(const Sources& sources, HostSnapshot& out) {
  if (!out.links) return;
  std::vector<Link>& links = *out.links;
  const bool ours = sysfs_is_ours(sources, links);
  const bool told =
      std::any_of(links.begin(), links.end(), [](const Link& link) { return link.parentdev.has_value(); });
  if (!told && ours)
    for (Link& link : links) find_parent(sources, link);

  const std::string root = real_path(sources.sys_path("/devices")).value_or(sources.sys_path("/devices"));
  const bool live = sources.sys_is_live() && sources.netlink_is_live();
  std::optional<Ethtool> ethtool;
  for (Link& link : links) {
    if (link.parentdev && link.parentbus) read_bus_device(sources, root, link);
    if (!speed_matters(link)) continue;
    if (live && !ethtool) ethtool.emplace();
    if (live && ethtool->works()) {
      link.speed_mbps = ethtool->speed_mbps(link.ifname);
      if (!link.driver) link.driver = ethtool->driver(link.ifname);
    } else if (ours) {
      const auto speed = read_number(class_net(sources, link) + "/speed");
      if (speed && *speed > 0 && *speed <= INT32_MAX) link.speed_mbps = speed;
    }
  }
  if (ours || links.size() <= 1) return;
  if (!exists(sources.sys_path("/class/net")))
    note(out, "sysfs",
         sources.sys_path("/class/net") +
             " is missing; drivers, NUMA nodes and PCI places of interfaces may be unknown");
  else if (!told || !(live && (!ethtool || ethtool->works())))
    note(out, "sysfs",
         sources.sys_path("/class/net") + " shows another network namespace than this process's; " +
             (told ? "speeds of interfaces are unknown" : "what hardware interfaces hang on is unknown"));
}

}  // namespace topoguard::host
