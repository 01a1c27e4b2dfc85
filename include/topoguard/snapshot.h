// SPDX-License-Identifier: Apache-2.0
// What one host looks like: the C++ form of the document topoguard.host/1 (docs/host-snapshot.md).
// Links, addresses and routes keep the member names of iproute2's JSON. An empty optional means unknown,
// never false and never zero. Plain values: copy freely, share read-only between threads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "topoguard/address.h"
#include "topoguard/cpu_set.h"

namespace topoguard {

struct System {
  std::optional<std::string> hostname;
  std::optional<std::string> kernel;          ///< as uname -r
  std::optional<std::string> container;       ///< none, docker, podman, kubernetes, slurm-pyxis, other
  std::optional<std::string> virtualization;  ///< none, kvm, hyperv, xen, aws, gcp, ...
  std::optional<std::vector<std::string>> modules;
  std::optional<std::string> iommu;  ///< off, passthrough, on
};

struct LinkAddress {
  IpAddress local;
  int prefixlen = 0;
  std::string scope;  ///< global, link, host, site
  std::optional<bool> deprecated;
  std::optional<bool> tentative;
  std::string label{};  ///< IPv4 alias, "eth0:1"; "" where it is the link's own name

  Family family() const { return local.family; }
};

struct Link {
  int ifindex = 0;
  std::string ifname;
  std::vector<std::string> flags;  ///< UP, LOWER_UP (which is IFF_RUNNING's cause), NO-CARRIER, LOOPBACK, ...
  std::optional<int> mtu;
  std::optional<std::string> operstate;          ///< UP, DOWN, UNKNOWN, LOWERLAYERDOWN, DORMANT, ...
  std::optional<std::string> link_type;          ///< ether, loopback, infiniband, none, ...
  std::optional<std::string> address;            ///< hardware address
  std::optional<std::string> master;             ///< name of the master
  std::optional<std::string> lower;              ///< JSON member "link": name of the lower device
  std::optional<int> link_index;                 ///< lower device's ifindex where it lives in another namespace
  std::optional<int> link_netnsid;               ///< where the lower device lives in another namespace
  std::optional<std::string> kind;               ///< linkinfo.info_kind
  std::optional<std::string> slave_kind;         ///< linkinfo.info_slave_kind
  std::map<std::string, std::string> info_data;  ///< linkinfo.info_data, scalars as text ("true", "3003")
  std::map<std::string, std::string> info_slave_data;
  std::optional<std::string> parentbus;
  std::optional<std::string> parentdev;
  std::vector<LinkAddress> addr_info;  ///< in the kernel's order
  std::optional<std::int64_t> speed_mbps;
  std::optional<std::string> driver;
  std::optional<int> numa_node;       ///< -1 in the document is stored as empty
  std::optional<std::string> physfn;  ///< PCI id of the physical function of a virtual function

  bool has_flag(std::string_view flag) const {
    for (const auto& f : flags)
      if (f == flag) return true;
    return false;
  }
};

struct RouteHop {
  std::optional<IpAddress> gateway;  ///< "gateway", or "via"."host"
  std::optional<std::string> dev;
};

struct Route {
  std::optional<Prefix> dst;  ///< empty: the default route
  Family family = Family::inet;
  std::optional<IpAddress> gateway;
  std::optional<std::string> dev;
  std::optional<std::uint32_t> metric;
  std::optional<IpAddress> prefsrc;
  std::vector<RouteHop> nexthops;    ///< multipath; then dev and gateway are empty
  std::vector<std::string> flags;    ///< linkdown, dead, onlink, ...
  std::optional<std::string> type;   ///< unicast where empty; blackhole, unreachable, prohibit, throw, ...
  std::optional<std::string> table;  ///< "main" where empty
  std::optional<std::string> scope;
};

struct GidEntry {
  int index = 0;
  Gid gid;
  std::optional<std::string> type;  ///< "RoCE v2" or "IB/RoCE v1"; empty where it cannot be read
  std::optional<std::string> ndev;
};

struct RdmaPort {
  int port = 1;
  std::optional<std::string> state;       ///< ACTIVE, DOWN, INIT, ARMED
  std::optional<std::string> phys_state;  ///< LinkUp, Polling, Disabled, ...
  std::optional<std::string> link_layer;  ///< InfiniBand, Ethernet
  std::optional<double> rate_gbps;
  std::optional<int> active_mtu;  ///< bytes
  std::optional<int> lid;
  std::optional<int> sm_lid;
  std::optional<std::string> netdev;
  std::optional<std::vector<GidEntry>> gids;  ///< all-zero entries left out
};

struct RdmaDevice {
  std::string name;
  std::optional<std::string> node_type;  ///< CA, RNIC, unspecified, ...
  std::optional<std::string> driver;
  std::optional<std::string> board_id;
  std::optional<std::string> pci;
  std::optional<std::string> physfn;
  std::optional<int> numa_node;
  std::optional<bool> usable;  ///< the verbs device can be opened from this process
  std::vector<RdmaPort> ports;
};

struct Gpu {
  int index = 0;
  std::optional<std::string> pci;
  std::optional<int> numa_node;
  std::optional<std::string> name;
};

/// How far two devices are apart, near to far, as NCCL (graph/topo.h) and nvidia-smi topo -m name it.
enum class PathClass : std::uint8_t { PIX, PXB, PHB, NODE, SYS };
std::string_view path_class_name(PathClass path);
std::optional<PathClass> parse_path_class(std::string_view text);

struct GpuPath {
  int gpu = 0;
  std::string device;  ///< HCA or netdev name
  PathClass path = PathClass::SYS;
};

struct PciDevice {
  std::string id;  ///< 0000:0f:00.0
  std::optional<std::string> parent;
  std::optional<std::string> device_class;  ///< JSON member "class": 0x030200
  std::optional<int> numa_node;
  std::optional<CpuSet> local_cpus;
  std::optional<bool> acs_redirect;
  std::optional<double> link_gts;  ///< GT/s per lane, now
  std::optional<int> link_width;
  std::optional<double> max_link_gts;
  std::optional<int> max_link_width;
};

struct NumaNode {
  int node = 0;
  CpuSet cpus;
  std::optional<std::int64_t> mem_bytes;
};

struct Process {
  std::optional<CpuSet> cpus_allowed;
  std::optional<CpuSet> mems_allowed;
  std::optional<std::int64_t> memlock_bytes;  ///< -1 = unlimited
  std::optional<int> gpu;                     ///< index that the communicator uses
};

struct Plugin {
  std::string path;
  std::string kind;  ///< net or env
  std::vector<std::string> versions;
};

struct GpuDriver {
  std::optional<bool> dmabuf;
  std::optional<bool> peermem;
};

struct Entry {
  std::optional<std::string> front_end;       ///< net, env, preload, exec, tool
  std::map<std::string, std::string> config;  ///< TOPOGUARD_* from file and environment
  std::optional<std::string> bootstrap;       ///< interface that NCCL's bootstrap already took
};

struct HostSnapshot {
  System system;
  std::optional<std::string> nccl_version;  ///< "2.28.9"; empty = newest known rules
  std::map<std::string, std::string> env;   ///< "" = set but empty
  std::optional<std::vector<Link>> links;
  std::optional<std::vector<Route>> routes;
  std::optional<std::vector<RdmaDevice>> rdma;
  std::optional<std::vector<Gpu>> gpus;
  std::optional<std::vector<GpuPath>> paths;
  std::optional<std::vector<PciDevice>> pci;
  std::optional<std::vector<NumaNode>> numa;
  Process process;
  std::vector<IpAddress> peers;
  std::optional<std::vector<Plugin>> plugins;
  GpuDriver gpu_driver;
  std::optional<std::int64_t> shm_bytes;
  Entry topoguard;
  std::vector<std::string> notes;  ///< one line per source that could not be read (JSON member "notes")
};

/// The list, or an empty one where it is unknown; for code to which both mean "nothing to look at".
template <typename T>
const std::vector<T>& known(const std::optional<std::vector<T>>& list) {
  static const std::vector<T> none;
  return list ? *list : none;
}

}  // namespace topoguard
