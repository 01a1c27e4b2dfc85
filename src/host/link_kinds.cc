// SPDX-License-Identifier: Apache-2.0
// Kind-specific data. Attribute numbers: linux/if_link.h, linux/if_tunnel.h; names of members and values: iproute2 6.1,
// ip/iplink_*.c and ip/link_*.c. Only what a rule or a person reading doctor's output has a use for.
#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/if_tunnel.h>

#include <array>

#include "host/links.h"

// Newer than the headers of Debian 11.
#ifndef IFF_TUN
#define IFF_TUN 1
#define IFF_TAP 2
#endif

namespace topoguard::host {
namespace {

using Data = std::map<std::string, std::string>;

template <std::size_t N>
std::string pick(const std::array<const char*, N>& names, unsigned value) {
  return value < N ? names[value] : std::to_string(value);
}

std::string truth(bool value) { return value ? "true" : "false"; }

std::string device(const NameOf& names, std::uint32_t ifindex) {
  const auto found = names.find(static_cast<int>(ifindex));
  return found == names.end() ? "if" + std::to_string(ifindex) : found->second;
}

constexpr std::array<const char*, 7> kBondModes = {"balance-rr", "active-backup", "balance-xor", "broadcast",
                                                   "802.3ad",    "balance-tlb",   "balance-alb"};

void bond(int type, const nlattr* at, const NameOf& names, Data& out) {
  if (type == IFLA_BOND_MODE) out["mode"] = pick(kBondModes, u8(at));
  if (type == IFLA_BOND_ACTIVE_SLAVE && u32(at) != 0) out["active_slave"] = device(names, u32(at));
  if (type == IFLA_BOND_MIIMON) out["miimon"] = std::to_string(u32(at));
  if (type == IFLA_BOND_MIN_LINKS) out["min_links"] = std::to_string(u32(at));
}

void vlan(int type, const nlattr* at, const NameOf&, Data& out) {
  if (type == IFLA_VLAN_ID) out["id"] = std::to_string(u16(at));
  if (type == IFLA_VLAN_PROTOCOL) {
    const unsigned protocol = ntohs(u16(at));
    out["protocol"] = protocol == 0x8100 ? "802.1Q" : protocol == 0x88a8 ? "802.1ad" : std::to_string(protocol);
  }
}

void macvlan(int type, const nlattr* at, const NameOf&, Data& out) {
  if (type != IFLA_MACVLAN_MODE) return;
  const unsigned mode = u32(at);
  out["mode"] = mode == 1    ? "private"
                : mode == 2  ? "vepa"
                : mode == 4  ? "bridge"
                : mode == 8  ? "passthru"
                : mode == 16 ? "source"
                             : "unknown";
}

void ipvlan(int type, const nlattr* at, const NameOf&, Data& out) {
  constexpr std::array<const char*, 3> modes = {"l2", "l3", "l3s"};
  if (type == IFLA_IPVLAN_MODE) out["mode"] = pick(modes, u16(at));
}

void vxlan(int type, const nlattr* at, const NameOf& names, Data& out) {
  if (type == IFLA_VXLAN_ID) out["id"] = std::to_string(u32(at));
  if (type == IFLA_VXLAN_LINK && u32(at) != 0) {
    const auto found = names.find(static_cast<int>(u32(at)));
    if (found != names.end())
      out["link"] = found->second;
    else
      out["link_index"] = std::to_string(u32(at));
  }
  if (type == IFLA_VXLAN_LOCAL && u32(at) != 0) out["local"] = address_text(at);
  if (type == IFLA_VXLAN_LOCAL6) out["local6"] = address_text(at);
  if (type == IFLA_VXLAN_PORT) out["port"] = std::to_string(ntohs(u16(at)));
  if (type == IFLA_VXLAN_GROUP && u32(at) != 0)
    out[(ntohl(u32(at)) >> 28) == 14 ? "group" : "remote"] = address_text(at);
}

void vrf(int type, const nlattr* at, const NameOf&, Data& out) {
  if (type == IFLA_VRF_TABLE) out["table"] = std::to_string(u32(at));
}

void tun(int type, const nlattr* at, const NameOf&, Data& out) {
  if (type == IFLA_TUN_TYPE) out["type"] = u8(at) == IFF_TUN ? "tun" : u8(at) == IFF_TAP ? "tap" : "unknown";
  if (type == IFLA_TUN_PERSIST) out["persist"] = truth(u8(at) != 0);
}

void ip_tunnel(int type, const nlattr* at, const NameOf& names, Data& out) {
  if (type == IFLA_IPTUN_LINK && u32(at) != 0) out["link"] = device(names, u32(at));
  if (type != IFLA_IPTUN_LOCAL && type != IFLA_IPTUN_REMOTE) return;
  const std::string address = address_text(at);
  const bool unset = address == "0.0.0.0" || address == "::";
  out[type == IFLA_IPTUN_LOCAL ? "local" : "remote"] = unset ? "any" : address;
}

void gre(int type, const nlattr* at, const NameOf& names, Data& out) {
  if (type == IFLA_GRE_LINK && u32(at) != 0) out["link"] = device(names, u32(at));
  if (type != IFLA_GRE_LOCAL && type != IFLA_GRE_REMOTE) return;
  const std::string address = address_text(at);
  const bool unset = address == "0.0.0.0" || address == "::";
  out[type == IFLA_GRE_LOCAL ? "local" : "remote"] = unset ? "any" : address;
}

void geneve(int type, const nlattr* at, const NameOf&, Data& out) {
  if (type == IFLA_GENEVE_ID) out["id"] = std::to_string(u32(at));
  if (type == IFLA_GENEVE_REMOTE && u32(at) != 0) out["remote"] = address_text(at);
}

void ipoib(int type, const nlattr* at, const NameOf&, Data& out) {
  if (type == IFLA_IPOIB_MODE) out["mode"] = u16(at) == IPOIB_MODE_CONNECTED ? "connected" : "datagram";
}

struct Kind {
  const char* name;
  void (*read)(int type, const nlattr* at, const NameOf& names, Data& out);
};

constexpr Kind kKinds[] = {
    {"bond", bond},     {"vlan", vlan},        {"macvlan", macvlan}, {"macvtap", macvlan}, {"ipvlan", ipvlan},
    {"ipvtap", ipvlan}, {"vxlan", vxlan},      {"vrf", vrf},         {"tun", tun},         {"ipip", ip_tunnel},
    {"sit", ip_tunnel}, {"ip6tnl", ip_tunnel}, {"gre", gre},         {"gretap", gre},      {"ip6gre", gre},
    {"ip6gretap", gre}, {"geneve", geneve},    {"ipoib", ipoib},
};

}  // namespace

std::map<std::string, std::string> info_data(const std::string& kind, const nlattr* data, const NameOf& names) {
  Data out;
  for (const Kind& known : kKinds) {
    if (kind != known.name) continue;
    for_each_attribute(data, [&](int type, const nlattr* at) { known.read(type, at, names, out); });
  }
  return out;
}

std::map<std::string, std::string> info_slave_data(const std::string& kind, const nlattr* data) {
  Data out;
  constexpr std::array<const char*, 2> states = {"ACTIVE", "BACKUP"};
  constexpr std::array<const char*, 4> mii = {"UP", "GOING_DOWN", "DOWN", "GOING_BACK"};
  for_each_attribute(data, [&](int type, const nlattr* at) {
    if (kind == "vrf" && type == IFLA_VRF_PORT_TABLE) out["table"] = std::to_string(u32(at));
    if (kind != "bond") return;
    if (type == IFLA_BOND_SLAVE_STATE) out["state"] = pick(states, u8(at));
    if (type == IFLA_BOND_SLAVE_MII_STATUS) out["mii_status"] = pick(mii, u8(at));
  });
  return out;
}

}  // namespace topoguard::host
