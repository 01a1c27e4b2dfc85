// SPDX-License-Identifier: Apache-2.0
#include "host/rdma.h"

#include <algorithm>
#include <cerrno>

#include "host/file.h"
#include "host/link_device.h"
#include "host/notes.h"

namespace topoguard::host {
namespace {

// "4: ACTIVE" -> "ACTIVE".
std::optional<std::string> after_number(std::optional<std::string> word) {
  if (!word) return std::nullopt;
  const auto colon = word->find(": ");
  if (colon == std::string::npos || colon + 2 >= word->size()) return std::nullopt;
  return word->substr(colon + 2);
}

// "100 Gb/sec (4X EDR)", "2.5 Gb/sec (1X SDR)". Read by hand: strtod obeys the host program's locale.
std::optional<double> rate(const std::optional<std::string>& word) {
  if (!word) return std::nullopt;
  const auto end = word->find(" Gb/sec");
  if (end == std::string::npos) return std::nullopt;
  const auto point = word->find('.');
  const auto whole = parse_number(std::string_view(*word).substr(0, std::min(end, point)));
  if (!whole || *whole < 0) return std::nullopt;
  double value = static_cast<double>(*whole);
  if (point < end) {
    double place = 0.1;
    for (std::size_t i = point + 1; i < end; ++i, place /= 10) {
      if ((*word)[i] < '0' || (*word)[i] > '9') return std::nullopt;
      value += place * ((*word)[i] - '0');
    }
  }
  return value;
}

std::optional<int> small(const std::optional<std::string>& word) {
  const auto number = word ? parse_number(*word) : std::nullopt;
  if (!number || *number < 0 || *number > 1 << 30) return std::nullopt;
  return static_cast<int>(*number);
}

const Link* find_link(const HostSnapshot& out, const std::string& name) {
  for (const Link& link : known(out.links))
    if (link.ifname == name) return &link;
  return nullptr;
}

// The port's own netdev: the one of its first GID (the port's default GID is made from it), else the netdevs of the
// same PCI device, told apart by dev_port where there are several. IPoIB on InfiniBand, the Ethernet port on RoCE.
std::optional<std::string> port_netdev(const Sources& sources, const std::string& device, const RdmaDevice& rdma,
                                       const RdmaPort& port, const HostSnapshot& out) {
  for (const GidEntry& gid : known(port.gids))
    if (gid.ndev) return gid.ndev;
  if (const auto parent = read_word(device + "/parent"); parent && find_link(out, *parent)) return parent;  // rdma_rxe
  if (!rdma.pci) return std::nullopt;
  std::vector<const Link*> candidates;
  const char* type = port.link_layer == "InfiniBand" ? "infiniband" : "ether";
  for (const Link& link : known(out.links))
    if (link.parentdev == rdma.pci && link.link_type == type && !link.lower) candidates.push_back(&link);
  if (candidates.size() == 1) return candidates.front()->ifname;
  for (const Link* link : candidates) {
    const std::string at = sources.sys_path("/class/net/" + link->ifname);
    if (read_number(at + "/dev_port") == port.port - 1 && read_number(at + "/ifindex") == link->ifindex)
      return link->ifname;
  }
  return std::nullopt;
}

RdmaPort read_port(const Sources& sources, const std::string& device, int directory, const std::string& name,
                   const RdmaDevice& rdma, const HostSnapshot& out) {
  RdmaPort port;
  port.port = static_cast<int>(parse_number(name).value_or(1));
  port.state = after_number(read_word_at(directory, "state"));
  port.phys_state = after_number(read_word_at(directory, "phys_state"));
  port.link_layer = read_word_at(directory, "link_layer");
  if (port.link_layer != "InfiniBand" && port.link_layer != "Ethernet") port.link_layer.reset();  // "Unknown": EFA
  port.rate_gbps = rate(read_word_at(directory, "rate"));
  port.lid = small(read_word_at(directory, "lid"));
  port.sm_lid = small(read_word_at(directory, "sm_lid"));
  port.gids = read_gids(directory);
  port.netdev = port_netdev(sources, device, rdma, port, out);
  // sysfs does not tell active_mtu. On Ethernet the kernel derives it from the netdev, and so do we; on InfiniBand it
  // is the subnet manager's and stays unknown.
  if (port.link_layer == "Ethernet" && port.netdev)
    if (const Link* link = find_link(out, *port.netdev); link && link->mtu) port.active_mtu = roce_mtu(*link->mtu);
  return port;
}

RdmaDevice read_device(const Sources& sources, const std::string& name, const std::string& root, HostSnapshot& out) {
  const std::string at = sources.sys_path("/class/infiniband/" + name);
  RdmaDevice rdma;
  rdma.name = name;
  rdma.node_type = after_number(read_word(at + "/node_type"));
  if (auto board = read_word(at + "/board_id"); board && !board->empty()) rdma.board_id = std::move(board);
  if (const auto directory = real_path(at + "/device")) {
    if (std::string id = base_name(*directory); is_pci_id(id)) rdma.pci = std::move(id);
    rdma.driver = link_name(at + "/device/driver");
    if (auto physfn = link_name(at + "/device/physfn"); physfn && is_pci_id(*physfn)) rdma.physfn = std::move(physfn);
    rdma.numa_node = numa_node_above(*directory, root);
  } else if (exists(at + "/parent")) {
    rdma.driver = "rdma_rxe";  // the only software RoCE; it names its netdev in "parent" and has no device
  } else if (rdma.node_type == "RNIC") {
    rdma.driver = "siw";  // the only software iWARP
  }
  const Listing ports = list_directory(at + "/ports");
  if (!ports) note(out, "rdma", name + ": its ports could not be listed (" + error_text(ports.error) + ")");
  for (const std::string& port : ports.names) {
    const auto number = parse_number(port);
    const Fd directory = number && *number > 0 && *number < 256 ? open_directory(at + "/ports/" + port) : Fd();
    if (directory)
      rdma.ports.push_back(read_port(sources, at, directory.get(), port, rdma, out));
    else
      note(out, "rdma", name + ": port " + port + " could not be read");
  }
  return rdma;
}

}  // namespace

std::optional<int> roce_mtu(int netdev_mtu) {
  // GRH 40, UDP 8, BTH 12, XRC 4, atomic 28, ICRC 4.
  for (const int mtu : {4096, 2048, 1024, 512, 256})
    if (netdev_mtu - 96 >= mtu) return mtu;
  return std::nullopt;
}

void read_rdma(const Sources& sources, bool try_verbs, HostSnapshot& out) {
  const std::string at = sources.sys_path("/class/infiniband");
  const Listing listing = list_directory(at);
  if (!listing) {
    if (listing.error == ENOENT && exists(sources.sys_path("/class")))
      out.rdma.emplace();
    else
      note(out, "rdma", at + " could not be listed (" + error_text(listing.error) + "); RDMA devices are unknown");
    return;
  }
  const std::string root = real_path(sources.sys_path("/devices")).value_or(sources.sys_path("/devices"));
  std::vector<RdmaDevice> devices;
  for (const std::string& name : listing.names) devices.push_back(read_device(sources, name, root, out));
  if (try_verbs) try_verbs_devices(sources, devices, out);
  out.rdma = std::move(devices);
}

}  // namespace topoguard::host
