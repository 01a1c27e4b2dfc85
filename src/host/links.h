// SPDX-License-Identifier: Apache-2.0
// Links and their addresses from rtnetlink, with the names and values that `ip -d -j addr` (iproute2 6.1,
// ip/ipaddress.c) prints. What the kernel keeps elsewhere (speed, driver, NUMA node) is added by link_device.h.
//
// HostSnapshot::links stays empty where the link dump fails; where only the address dump fails, every addr_info is
// empty and a note says that addresses are unknown, and links stay unknown too: a link without its addresses would be
// rejected.
#pragma once

#include <netlink/attr.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/sources.h"
#include "topoguard/snapshot.h"

namespace topoguard::host {

void read_links(const Sources& sources, HostSnapshot& out);

// --- pieces, each in a file of its own, public for their tests ---

/// Flags as iproute2 prints them: NO-CARRIER where UP without RUNNING, RUNNING itself never, rest as one hex number.
std::vector<std::string> flag_names(unsigned flags, bool lower_is_down);
/// IF_OPER_* (linux/if.h); the number itself in hexadecimal where it has no name.
std::string operstate_name(unsigned state);
/// ARPHRD_* (linux/if_arp.h), "[772]" where it has no name.
std::string link_type_name(unsigned type);
/// RT_SCOPE_* (linux/rtnetlink.h): "global", "link", ...; the number where it has no name.
std::string scope_name(unsigned scope);
/// Hardware address: IPv4 or IPv6 text for tunnels, else colon-separated hexadecimal.
std::string hardware_address(unsigned type, const std::uint8_t* bytes, std::size_t length);

using NameOf = std::map<int, std::string>;  ///< ifindex to ifname
/// IFLA_INFO_DATA and IFLA_INFO_SLAVE_DATA: those members that rules may look at, for the kinds in link_kinds.cc.
std::map<std::string, std::string> info_data(const std::string& kind, const nlattr* data, const NameOf& names);
std::map<std::string, std::string> info_slave_data(const std::string& kind, const nlattr* data);

/// Adds each address to its link. Returns the error text of the dump, "" = read.
std::string read_addresses(const Sources& sources, std::vector<Link>& links, HostSnapshot& out);

/// Calls visit(attribute type, attribute) for each well-formed attribute of a nested one.
template <typename Visit>
void for_each_attribute(const nlattr* nest, Visit&& visit) {
  if (!nest) return;
  int left = nla_len(nest);
  for (auto* at = static_cast<nlattr*>(nla_data(nest)); nla_ok(at, left); at = nla_next(at, &left))
    visit(nla_type(at), at);
}

/// Checked reads: `fallback` where the attribute is missing or too short.
std::uint8_t u8(const nlattr* attribute, std::uint8_t fallback = 0);
std::uint16_t u16(const nlattr* attribute, std::uint16_t fallback = 0);
std::uint32_t u32(const nlattr* attribute, std::uint32_t fallback = 0);
/// A string attribute up to its first NUL, or "" where missing.
std::string text(const nlattr* attribute);
/// 4 or 16 bytes of address as text; "" for any other length.
std::string address_text(const nlattr* attribute);

}  // namespace topoguard::host
