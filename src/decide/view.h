// SPDX-License-Identifier: Apache-2.0
// A host snapshot, indexed and asked in the kernel's terms: who is whose master, what lies below, what runs, which way
// a packet leaves. Built once per decision in n log n of the links; every question after that is cheap.
// Holds references into the snapshot, which must outlive it. Const methods are safe to call from several threads.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "nccl_rules/release.h"
#include "topoguard/snapshot.h"

namespace topoguard {

/// Where the kernel sends a packet. An empty list of devices: a known table has no way there.
struct Way {
  std::vector<const Link*> devices;  ///< more than one with multipath or equal metrics
  std::optional<IpAddress> source;   ///< the route's prefsrc
  bool by_default_route = false;
  bool local = false;  ///< the address is this host's own
};

class View {
 public:
  explicit View(const HostSnapshot& host);
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  const HostSnapshot& host() const { return host_; }
  const NcclRelease& release() const { return release_; }

  /// Every link, by ifindex and then name: a fixed order whatever the order of the document.
  const std::vector<const Link*>& links() const { return links_; }
  const Link* link(std::string_view ifname) const;  ///< nullptr where this namespace has none of that name
  const Link* link(int ifindex) const;

  /// info_kind; where that is missing, what the driver says ("bridge", "veth", "bond", ...); "" for a plain device.
  std::string_view kind(const Link& link) const;
  /// IFF_UP and IFF_RUNNING (netdevice(7)): up, with carrier, operstate up or unknown.
  bool running(const Link& link) const;
  bool loopback(const Link& link) const;

  const Link* master(const Link& link) const;  ///< nullptr without one, or where it is in another namespace
  const std::vector<const Link*>& slaves(const Link& link) const;  ///< ports of a bridge, bond, team, VRF
  const Link* lower(const Link& link) const;     ///< what a vlan, macvlan, ipvlan, ... stands on, here
  bool lower_elsewhere(const Link& link) const;  ///< its lower device (or veth peer) is in another namespace
  /// Every device at the bottom of the stack below `link`; itself where it stands on nothing. Cycles are cut.
  std::vector<const Link*> bottoms(const Link& link) const;

  /// The device hangs on a bus itself: PCI, vmbus, virtio, USB, platform, ... Where no link's bus is recorded (older
  /// iproute2, or no -d), a plain Ethernet or InfiniBand device counts that has no kind, no ports and no lower device.
  bool on_bus(const Link& link) const;
  /// architecture.md section 4: it, or a device below it, hangs on a bus; or it is this namespace's way out.
  bool physical_backed(const Link& link) const;
  /// A veth, macvlan or ipvlan with an address and a route beyond one host, in a namespace without any bus device that
  /// runs; or a pod's veth beside SR-IOV functions, where the default routes leave by nothing else.
  bool way_out(const Link& link) const;

  /// Mb/s of the link, else of what it stands on (a bond: the sum); empty = unknown. Veths and bridges know none.
  std::optional<std::int64_t> speed_mbps(const Link& link) const;

  /// Main-table routes by which the kernel could send to `to`: longest prefix, then lowest metric.
  /// nullopt: this family's routes are unknown and no address's subnet contains it.
  std::optional<Way> way_to(const IpAddress& to) const;
  /// The route to `to` leaves by `link`, or names one of its addresses as the source. Unknown routes: nullopt.
  std::optional<bool> reaches(const Link& link, const IpAddress& to) const;
  /// It carries a default route of the family (any family where empty), whatever its metric; or such a route names one
  /// of its addresses as the source.
  bool default_route(const Link& link, std::optional<Family> family = std::nullopt) const;
  /// The lowest metric of those; nullopt without one.
  std::optional<std::uint32_t> default_metric(const Link& link) const;
  bool routes_known(Family family) const { return family == Family::inet ? known4_ : known6_; }
  const std::vector<const Route*>& routes_of(const Link& link) const;  ///< those that leave by it, in fixed order

  /// Peers that are not this host's own addresses; sorted, once each.
  const std::vector<IpAddress>& peers() const { return peers_; }
  /// Who has the own address that the other hosts know (as MASTER_ADDR, NCCL_COMM_ID, or among the peers); nullptr
  /// where they know none.
  const Link* announced() const { return announced_; }
  const Link* holder(const IpAddress& address) const;  ///< who has it, nullptr if nobody here

  const PciDevice* pci(std::string_view id) const;  ///< nullptr where unknown
  bool kubernetes() const { return host_.system.container && *host_.system.container == "kubernetes"; }

 private:
  struct Entry {
    const Link* link;
    std::string_view kind;
    const Link* master = nullptr;
    std::vector<const Link*> slaves;
    std::vector<const Route*> routes;
    std::optional<std::uint32_t> default4, default6;  ///< lowest metric
    bool on_bus = false;
    bool physical = false;
  };
  void index_links();
  void index_routes();
  void index_uplinks();
  void index_peers();
  bool find_on_bus(const Entry& entry, bool buses_recorded) const;
  bool find_physical(const Link& link, int depth) const;
  bool port_of_live_switch(const Link& link) const;
  const Entry& entry(const Link& link) const { return entries_[positions_.at(&link)]; }
  Entry& entry(const Link& link) { return entries_[positions_.at(&link)]; }
  std::optional<Way> find_way(const IpAddress& to) const;
  std::optional<Way> connected_way(const IpAddress& to) const;

  const HostSnapshot& host_;
  NcclRelease release_;
  std::vector<const Link*> links_;
  std::vector<Entry> entries_;  ///< as links_
  std::unordered_map<const Link*, std::size_t> positions_;
  std::unordered_map<std::string_view, const Link*> by_name_;
  std::unordered_map<int, const Link*> by_index_;
  std::vector<const Route*> routes_;  ///< those that a packet can meet, longest prefix and lowest metric first
  std::map<IpAddress, const Link*> holders_;
  std::map<IpAddress, std::optional<Way>> peer_ways_;
  std::unordered_map<std::string_view, const PciDevice*> pci_;
  std::vector<IpAddress> peers_;
  const Link* announced_ = nullptr;
  bool any_bus_device_ = false;                 ///< one that runs: a dead NIC takes nothing from the others
  std::vector<const Link*> live_switch_ports_;  ///< running ports of Open vSwitch that stand on a running bus device
  bool default_by_pairs_only_ = false;          ///< there are default routes, and all leave by veths
  bool known4_ = false, known6_ = false;
};

/// Not link-local, unspecified, loopback, multicast, of host scope or tentative: what another host can connect to.
bool usable_address(const LinkAddress& address);
/// One end of a pair, the other in another namespace or a container's: veth, netkit.
bool paired_kind(std::string_view kind);
/// Link-local by range or scope, and not tentative.
bool link_local_address(const LinkAddress& address);

}  // namespace topoguard
