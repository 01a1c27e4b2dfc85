// SPDX-License-Identifier: Apache-2.0
#include "decide/interface_rules.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "nccl_rules/interfaces.h"

namespace topoguard {
namespace {

using Facts = InterfaceFacts;

template <std::size_t N>
bool one_of(std::string_view kind, const std::array<std::string_view, N>& kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

/// Kinds as in the kernel's rtnl_link_ops.
constexpr std::array<std::string_view, 22> kOverlays{
    "vxlan", "geneve", "gre",  "gretap",  "ip6gre", "ip6gretap", "erspan", "ip6erspan", "ipip", "ip6tnl", "sit",
    "vti",   "vti6",   "xfrm", "bareudp", "gtp",    "l2tp",      "amt",    "batadv",    "lisp", "ovpn",   "mpls",
};
constexpr std::array<std::string_view, 6> kEndpoints{"tun", "tap", "wireguard", "ppp", "slip", "nlmon"};

std::string kind_text(const Facts& f) { return std::string(f.view.kind(f.link)); }
std::string with_address(const Facts& f) { return f.address ? " with " + address_text(*f.address) : ""; }

bool enslaved(const Facts& f) {
  const auto* master = f.view.master(f.link);
  if (master) return f.view.kind(*master) != "vrf";
  // The master can be out of sight (another namespace), and old iproute2 shows the flag alone.
  if (f.link.slave_kind) return *f.link.slave_kind != "vrf";
  return f.link.master || f.link.has_flag("SLAVE");
}

bool container_end(const Facts& f) { return paired_kind(f.view.kind(f.link)) && !f.view.physical_backed(f.link); }

}  // namespace

const std::vector<InterfaceRule>& interface_rules() {
  static const std::vector<InterfaceRule> rules = {
      {"only-routable-address",
       [](const Facts& f) {
         const bool carries = f.view.loopback(f.link) || f.view.kind(f.link) == "dummy";
         return carries && f.only_routable_elsewhere && f.address && usable_address(*f.address) &&
                f.view.running(f.link);
       },
       Standing::good, "only-routable-address",
       [](const Facts& f) {
         return "carries " + address_text(*f.address) +
                ", and what leads to other hosts has no address of its own that they could use";
       },
       "06-bgp-unnumbered-lo"},
      {"loopback", [](const Facts& f) { return f.view.loopback(f.link); }, Standing::loopback, "loopback",
       [](const Facts&) { return std::string("leads to this host only"); }, "72a-exclude-docker-only"},
      {"down", [](const Facts& f) { return !f.link.has_flag("UP"); }, Standing::unusable, "down",
       [](const Facts&) { return std::string("switched off (not UP)"); }, "04-ib-linklocal-bootstrap"},
      {"no-carrier", [](const Facts& f) { return !f.view.running(f.link); }, Standing::unusable, "no-carrier",
       [](const Facts& f) {
         return "up, and without carrier (operstate " + f.link.operstate.value_or("unknown") + ")";
       },
       "43-no-carrier"},
      {"enslaved", enslaved, Standing::unusable, "enslaved",
       [](const Facts& f) {
         return f.link.master ? "part of " + *f.link.master + ", which counts instead"
                              : std::string("part of another device, which counts instead");
       },
       "04-ib-linklocal-bootstrap"},
      {"no-address", [](const Facts& f) { return f.link.addr_info.empty(); }, Standing::unusable, "no-address",
       [](const Facts&) { return std::string("has no address"); }, "76-private-nic-public-vlan"},
      {"container-end", container_end, Standing::virtual_good, "container-end",
       [](const Facts& f) {
         return "one end of a container's link (" + kind_text(f) + ")" + with_address(f) +
                "; the physical interfaces of this namespace lead farther";
       },
       "03-veth-second"},
      {"tunnel-endpoint", [](const Facts& f) { return one_of(f.view.kind(f.link), kEndpoints); },
       Standing::virtual_good, "tunnel-endpoint",
       [](const Facts& f) {
         return "ends in a program (" + kind_text(f) + ")" + with_address(f) + ", not at a device";
       },
       "prototype-findings.md: a tun first in the list hangs the bootstrap"},
      {"overlay", [](const Facts& f) { return one_of(f.view.kind(f.link), kOverlays); }, Standing::virtual_good,
       "overlay",
       [](const Facts& f) {
         return "an overlay or tunnel (" + kind_text(f) + ")" + with_address(f) + " above another interface";
       },
       "58-flannel-vxlan"},
      {"dummy", [](const Facts& f) { return f.view.kind(f.link) == "dummy"; }, Standing::virtual_good, "dummy",
       [](const Facts& f) { return "a dummy device" + with_address(f) + ": it sends nothing"; }, "57-nodelocaldns"},
      {"virtual-bridge",
       [](const Facts& f) { return f.view.kind(f.link) == "bridge" && !f.view.physical_backed(f.link); },
       Standing::virtual_good, "virtual-bridge",
       [](const Facts& f) {
         return "a bridge" + with_address(f) +
                " without a physical port that is up: it leads to containers or virtual "
                "machines of this host";
       },
       "53-docker-bridges-and-veths"},
      {"virtual-device", [](const Facts& f) { return !f.view.physical_backed(f.link); }, Standing::virtual_good,
       "virtual-device",
       [](const Facts& f) {
         const auto kind = kind_text(f);
         return "no bus device carries its traffic (" + (kind.empty() ? "unknown kind" : "kind " + kind) + ")";
       },
       "93-vrf-slave-keeps-its-address"},
      {"address-unusable", [](const Facts& f) { return f.address == nullptr; }, Standing::unusable, "address-unusable",
       [](const Facts&) {
         return std::string(
             "none of its addresses can be used: tentative, of host scope, or not of the family that "
             "NCCL_SOCKET_FAMILY wants");
       },
       "prototype-findings.md: link-local addresses within a second of creation"},
      {"link-local", [](const Facts& f) { return !usable_address(*f.address); }, Standing::link_local, "link-local",
       [](const Facts& f) { return "has only " + address_text(*f.address) + ", which is valid on its own wire only"; },
       "23a-vlan-child"},
      {"usable", [](const Facts&) { return true; }, Standing::good, "not-the-best",
       [](const Facts& f) { return "has " + address_text(*f.address); }, "105-healthy-plain-host"},
  };
  return rules;
}

}  // namespace topoguard
