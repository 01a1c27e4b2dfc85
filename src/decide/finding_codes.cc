// SPDX-License-Identifier: Apache-2.0
// The table of finding codes. Those of host-snapshot.md first, in its order; then those between hosts; then our own.
#include "decide/findings.h"

namespace topoguard {
namespace {

constexpr auto kError = Severity::error;
constexpr auto kWarning = Severity::warning;
constexpr auto kInfo = Severity::info;

}  // namespace

const std::vector<FindingRow>& finding_codes() {
  static const std::vector<FindingRow> table = {
      // The user's variables
      {"env-prefix-match", kWarning,
       "a device list matches more devices than it names, since NCCL's names are prefixes",
       "Write = before the list to have whole names: NCCL_IB_HCA==mlx5_1, NCCL_SOCKET_IFNAME==eth0."},
      {"env-no-match", kError, "a device list matches nothing on this host",
       "Name a device that this host has, or unset the variable and let topoguard choose."},
      {"env-empty-value", kError, "a variable is set but empty, and NCCL reads that as a value",
       "Unset the variable instead of setting it to nothing."},
      {"env-syntax", kWarning, "a value is not in NCCL's syntax, so it does something else than it seems to",
       "Correct the value; NCCL's list syntax is [^][=]name[:port],name,... with ^ and = once, before the first name."},
      {"env-unknown", kWarning,
       "this NCCL release does not read the variable: misspelt, retired, newer, or another program's",
       "Correct or remove the variable."},
      {"p2p-disabled", kWarning, "direct transfers between the GPUs of this host are switched off by a variable",
       "Unset NCCL_P2P_DISABLE and NCCL_P2P_LEVEL unless a fault of this machine needs them."},
      {"env-loopback-reenabled", kError, "a ^ list replaces NCCL's own exclusions and lets the loopback interface in",
       "Add lo to the list: NCCL_SOCKET_IFNAME=^docker,lo."},
      // HCAs
      {"gid-pin-stale", kWarning,
       "NCCL_IB_GID_INDEX names an entry that is missing or not the right one on a chosen HCA",
       "Unset NCCL_IB_GID_INDEX; topoguard finds the right entry for each HCA."},
      {"gid-missing", kWarning, "an active Ethernet HCA has no usable address entry (GID) in this network namespace",
       "Give the HCA's interface an address, or the container that interface (SR-IOV, macvlan, host networking)."},
      {"port-down", kWarning, "an HCA port is not active",
       "Check cable, switch port and driver; ibstat shows the state."},
      {"subnet-manager-missing", kError, "an InfiniBand port has its link but no subnet manager has configured it",
       "Start a subnet manager (opensm) on the fabric, or check the switch's own."},
      {"hca-unusable", kWarning, "an RDMA device is listed but this process cannot open it",
       "Pass /dev/infiniband into the container (docker: --device=/dev/infiniband) and check its permissions."},
      {"mixed-link-layer", kWarning, "InfiniBand and Ethernet HCAs are both active, and one kind was left out",
       "Name the HCAs of one kind in NCCL_IB_HCA if the other kind is meant."},
      // Interfaces
      {"link-local-only", kWarning, "the best interface has only an address that is valid on its own wire",
       "Give the interface an address: check DHCP or the static configuration."},
      {"virtual-only", kWarning, "nothing but virtual interfaces is usable, so the best of them is used",
       "Start the container with the host's network (docker: --network=host) or give it a real interface."},
      {"slow-fallback", kWarning, "RDMA hardware is present and the data goes over TCP all the same", ""},
      {"duplicate-subnet", kWarning,
       "another interface shares a chosen one's subnet, and the kernel may send by that one",
       "Put each interface into a subnet of its own, or into a bond; else set rp_filter and source routes."},
      // GPUs
      {"affinity-empty", kWarning, "none of the CPUs near the GPU are allowed for this process, so nothing is bound",
       "Have the launcher grant CPUs of the GPU's NUMA node."},
      {"numa-unknown", kInfo, "the platform does not tell the GPU's NUMA node",
       "In a virtual machine, have the hypervisor expose the NUMA topology."},
      {"gdr-unavailable", kWarning, "neither peer-memory module nor DMA-BUF: GPU data goes through host memory",
       "Load nvidia-peermem, or use the open GPU kernel modules on Linux 5.12 or newer (DMA-BUF)."},
      // Host and process
      {"plugin-shadowed", kWarning, "another libnccl-net.so is found first, and topoguard is not asked",
       "Set NCCL_NET_PLUGIN=topoguard; topoguard then wraps the other plugin."},
      {"peer-unreachable", kError, "no chosen interface has a route to any known peer",
       "Add a route or an address in the peers' subnet; ip route get ADDRESS shows what the kernel would do."},
      {"memlock-low", kWarning, "RDMA is used and the limit of locked memory is low: registering buffers will fail",
       "Raise the limit: ulimit -l unlimited, docker --ulimit memlock=-1, LimitMEMLOCK=infinity in the service."},
      {"shm-small", kWarning, "/dev/shm is smaller than 64 MiB per GPU",
       "Start the container with more: docker --shm-size=8g or --ipc=host; Kubernetes: an emptyDir of medium Memory."},
      {"pcie-degraded", kWarning, "a device's PCIe link is narrower or slower than it and its slot can be",
       "Reseat the card, check the riser and the firmware's slot settings; lspci -vv shows LnkSta against LnkCap."},
      {"acs-on", kWarning,
       "PCIe access control (ACS) sends traffic between a GPU and its nearest HCA by way of the root",
       "Switch ACS off in the firmware or with setpci on the bridges, unless virtual machines need it."},
      {"address-not-steerable", kWarning, "the right address is not the one that NCCL takes first on that interface",
       "Make it the interface's first address, or put it on an interface of its own."},
      {"plugin-bypassed", kWarning, "a setting keeps NCCL from calling topoguard",
       "Unset that variable, or use the preload library or the env plugin."},
      {"bootstrap-not-covered", kError,
       "NCCL chose its bootstrap interface before topoguard could act, and chose a wrong one",
       "Start the job with LD_PRELOAD=libtopoguard.so, NCCL_ENV_PLUGIN=topoguard (NCCL 2.28.7 and later) or "
       "topoguard exec, or put the output of topoguard env into the job's environment or nccl.conf."},
      // Between hosts
      {"mtu-mismatch", kWarning, "chosen devices of two hosts have different packet sizes", ""},
      {"gid-type-mismatch", kError, "some hosts use RoCE v1 and others RoCE v2", ""},
      {"link-layer-mismatch", kError, "some hosts use InfiniBand and others Ethernet HCAs", ""},
      {"subnet-mismatch", kError,
       "chosen interfaces of two hosts have neither a common subnet nor a route to each other", ""},
      {"hca-count-mismatch", kError, "hosts use different numbers of HCAs", ""},
      {"transport-mismatch", kError, "some hosts use RDMA and others TCP", ""},
      {"nccl-version-mismatch", kWarning, "hosts run different NCCL releases", ""},
      {"env-mismatch", kWarning, "NCCL_* variables differ between hosts", ""},
      {"rail-mismatch", kWarning, "two hosts have the same HCA subnets in another order", ""},
      {"speed-mismatch", kWarning, "chosen devices of two hosts have different speeds", ""},
      // Our own
      {"gid-not-steerable", kWarning, "this NCCL release cannot be led to the right GID on every chosen HCA",
       "Use NCCL 2.21 or newer, or give the HCAs' interfaces addresses so that the indexes agree."},
      {"nccl-limit", kWarning, "there are more HCAs than this NCCL release can hold", ""},
      {"comm-id-fixed", kWarning, "NCCL_COMM_ID fixes the bootstrap interface, and to a wrong one",
       "Use another NCCL release than 2.29.2 to 2.29.7, or the unique id that the application exchanges itself."},
      {"loopback-only", kWarning, "no interface leads to another host: only processes of this one can be reached",
       "Give the container or host a network if the job spans several hosts."},
      {"interface-limit", kWarning, "NCCL takes at most 16 interfaces", ""},
      {"require-ib-unmet", kError, "TOPOGUARD_REQUIRE=IB is set and no HCA can be used: connections will fail",
       "Cure what the findings about the HCAs name, or drop TOPOGUARD_REQUIRE."},
      {"steering-not-applied", kWarning, "NCCL's devices are not those of the decision", ""},
      {"setting-unknown", kWarning, "a TOPOGUARD_* name is not known", ""},
      {"setting-invalid", kWarning, "the value of a TOPOGUARD_* setting cannot be read", ""},
      {"setting-not-here", kWarning, "a TOPOGUARD_* setting that this version does not have yet", ""},
      {"settings-file", kWarning, "a line of the settings file cannot be read", ""},
      {"internal-error", kError, "topoguard failed and changed nothing",
       "Please report this with the output of topoguard snapshot --redact."},
  };
  return table;
}

const std::vector<ReasonRow>& reason_codes() {
  static const std::vector<ReasonRow> table = {
      // Chosen
      {"best-interface", "the best way to the other hosts"},
      {"equal-share", "as good as the best interface, and shares the data with it"},
      {"user-listed", "the user's own list names it"},
      {"only-routable-address", "carries the host's only routable address, on lo or a dummy device"},
      {"only-way-to-peers", "a virtual interface, and the only one with a route to the peers"},
      {"only-candidate", "nothing better is left"},
      {"best-class", "of the fastest and nearest class of HCAs"},
      // Eligible
      {"not-the-best", "usable, and another interface is better"},
      {"slower", "usable, and slower than the chosen ones"},
      {"no-route-to-peers", "usable, and has no route to the known peers"},
      {"no-default-route", "usable, and the default route leaves by another interface"},
      {"not-listed", "usable, and not in the user's list"},
      {"shares-subnet", "as fast as the chosen one, in the same subnet or over the same device"},
      {"outside-policy", "usable, and TOPOGUARD_SUBNETS or TOPOGUARD_INCLUDE prefers others"},
      {"socket-transport", "the data goes over sockets"},
      {"far", "farther from the GPUs than the chosen HCAs"},
      {"virtual-function", "a virtual function beside its usable physical function"},
      {"nccl-limit", "NCCL holds no more devices than those before it"},
      {"other-link-layer", "InfiniBand beside Ethernet or the other way round: the two cannot talk to each other"},
      {"older-roce", "offers RoCE v1 only, beside HCAs with RoCE v2"},
      {"software-rdma", "RDMA in software beside a hardware device"},
      {"gid-not-steerable", "this NCCL release cannot be brought to the right GID on it and on the others"},
      // Rejected
      {"loopback", "leads to this host only"},
      {"down", "switched off"},
      {"no-carrier", "no cable, or nothing at its other end"},
      {"enslaved", "part of a bond, bridge or team, which counts instead"},
      {"no-address", "has no address"},
      {"address-unusable", "its address cannot be used yet, or by another host"},
      {"link-local", "its address is valid on its own wire only"},
      {"virtual-bridge", "a bridge of this host's containers or virtual machines, without a physical port"},
      {"overlay", "a tunnel or overlay network above another interface"},
      {"tunnel-endpoint", "ends in a program (tun, tap, a VPN), not at a device"},
      {"dummy", "a device that sends nothing"},
      {"container-end", "this host's end of a container's link"},
      {"virtual-device", "no bus device carries its traffic"},
      {"excluded", "TOPOGUARD_EXCLUDE names it"},
      {"hca-unusable", "this process cannot open it"},
      {"unopenable", "this process cannot open it"},
      {"port-down", "no port is active"},
      {"subnet-manager-missing", "its link is up and no subnet manager has configured it"},
      {"gid-missing", "has no usable address entry (GID) in this network namespace"},
      {"no-port", "has no port"},
      {"link-layer-unknown", "neither InfiniBand nor Ethernet"},
      {"own-plugin", "needs a network plugin of its own"},
      {"other-subnet", "usable, and TOPOGUARD_SUBNETS prefers others"},
      {"not-included", "usable, and TOPOGUARD_INCLUDE names others"},
      {"iwarp", "speaks iWARP and no RoCE, NCCL RoCE only"},
  };
  return table;
}

}  // namespace topoguard
