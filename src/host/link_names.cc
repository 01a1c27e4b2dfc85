// SPDX-License-Identifier: Apache-2.0
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>

#include <cstdio>
#include <cstring>

#include "host/links.h"

namespace topoguard::host {
namespace {

struct Named {
  unsigned value;
  const char* name;
};

// Order as iproute2 prints them.
constexpr Named kFlags[] = {
    {IFF_LOOPBACK, "LOOPBACK"},   {IFF_BROADCAST, "BROADCAST"},   {IFF_POINTOPOINT, "POINTOPOINT"},
    {IFF_MULTICAST, "MULTICAST"}, {IFF_NOARP, "NOARP"},           {IFF_ALLMULTI, "ALLMULTI"},
    {IFF_PROMISC, "PROMISC"},     {IFF_MASTER, "MASTER"},         {IFF_SLAVE, "SLAVE"},
    {IFF_DEBUG, "DEBUG"},         {IFF_DYNAMIC, "DYNAMIC"},       {IFF_AUTOMEDIA, "AUTOMEDIA"},
    {IFF_PORTSEL, "PORTSEL"},     {IFF_NOTRAILERS, "NOTRAILERS"}, {IFF_UP, "UP"},
    {IFF_LOWER_UP, "LOWER_UP"},   {IFF_DORMANT, "DORMANT"},       {IFF_ECHO, "ECHO"},
};

constexpr Named kTypes[] = {
    {ARPHRD_NETROM, "netrom"},   {ARPHRD_ETHER, "ether"},          {ARPHRD_INFINIBAND, "infiniband"},
    {ARPHRD_PPP, "ppp"},         {ARPHRD_RAWIP, "rawip"},          {ARPHRD_TUNNEL, "ipip"},
    {ARPHRD_TUNNEL6, "tunnel6"}, {ARPHRD_LOOPBACK, "loopback"},    {ARPHRD_SIT, "sit"},
    {ARPHRD_IPGRE, "gre"},       {ARPHRD_IEEE80211, "ieee802.11"}, {ARPHRD_IP6GRE, "gre6"},
    {ARPHRD_CAN, "can"},         {ARPHRD_NETLINK, "netlink"},      {ARPHRD_NONE, "none"},
    {ARPHRD_VOID, "void"},
};

constexpr const char* kOperstates[] = {"UNKNOWN", "NOTPRESENT", "DOWN", "LOWERLAYERDOWN", "TESTING", "DORMANT", "UP"};

}  // namespace

std::vector<std::string> flag_names(unsigned flags, bool lower_is_down) {
  std::vector<std::string> names;
  if ((flags & IFF_UP) && !(flags & IFF_RUNNING)) names.emplace_back("NO-CARRIER");
  flags &= ~static_cast<unsigned>(IFF_RUNNING);
  for (const Named& flag : kFlags) {
    if (!(flags & flag.value)) continue;
    flags &= ~flag.value;
    names.emplace_back(flag.name);
  }
  if (flags) {
    char rest[16];
    std::snprintf(rest, sizeof rest, "%x", flags);
    names.emplace_back(rest);
  }
  if (lower_is_down) names.emplace_back("M-DOWN");
  return names;
}

std::string operstate_name(unsigned state) {
  if (state < std::size(kOperstates)) return kOperstates[state];
  char number[16];
  std::snprintf(number, sizeof number, "%#x", state);
  return number;
}

std::string link_type_name(unsigned type) {
  for (const Named& known : kTypes)
    if (known.value == type) return known.name;
  return "[" + std::to_string(type) + "]";
}

std::string hardware_address(unsigned type, const std::uint8_t* bytes, std::size_t length) {
  IpAddress address;
  if (length == 4 && (type == ARPHRD_TUNNEL || type == ARPHRD_SIT || type == ARPHRD_IPGRE)) {
    std::memcpy(address.bytes.data(), bytes, 4);
    return address.text();
  }
  if (length == 16 && (type == ARPHRD_TUNNEL6 || type == ARPHRD_IP6GRE)) {
    address.family = Family::inet6;
    std::memcpy(address.bytes.data(), bytes, 16);
    return address.text();
  }
  std::string text;
  text.reserve(length * 3);
  constexpr char digits[] = "0123456789abcdef";
  for (std::size_t i = 0; i < length; ++i) {
    if (i) text += ':';
    text += digits[bytes[i] >> 4];
    text += digits[bytes[i] & 15];
  }
  return text;
}

std::string scope_name(unsigned scope) {
  switch (scope) {
    case RT_SCOPE_UNIVERSE:
      return "global";
    case RT_SCOPE_SITE:
      return "site";
    case RT_SCOPE_LINK:
      return "link";
    case RT_SCOPE_HOST:
      return "host";
    case RT_SCOPE_NOWHERE:
      return "nowhere";
    default:
      return std::to_string(scope);
  }
}

}  // namespace topoguard::host
