// SPDX-License-Identifier: Apache-2.0
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>

#include <cstring>
#include <unordered_map>

#include "host/links.h"
#include "host/netlink.h"
#include "host/notes.h"

namespace topoguard::host {
namespace {

using ByIndex = std::unordered_map<int, Link*>;

bool parse_address(nlmsghdr* header, const ByIndex& links) {
  if (header->nlmsg_type != RTM_NEWADDR || !nlmsg_valid_hdr(header, sizeof(ifaddrmsg))) return true;
  const auto* info = static_cast<const ifaddrmsg*>(nlmsg_data(header));
  if (info->ifa_family != AF_INET && info->ifa_family != AF_INET6) return true;
  const auto link = links.find(static_cast<int>(info->ifa_index));
  if (link == links.end()) return true;  // made after the links were read

  // On a point-to-point link IFA_ADDRESS is the other end; IFA_LOCAL is ours wherever it is given.
  const nlattr* local = nullptr;
  const nlattr* fallback = nullptr;
  std::string label;
  std::uint32_t flags = info->ifa_flags;
  int left = nlmsg_attrlen(header, sizeof(ifaddrmsg));
  for (nlattr* at = nlmsg_attrdata(header, sizeof(ifaddrmsg)); nla_ok(at, left); at = nla_next(at, &left)) {
    if (nla_type(at) == IFA_LOCAL) local = at;
    if (nla_type(at) == IFA_ADDRESS) fallback = at;
    if (nla_type(at) == IFA_LABEL) label = text(at);
    if (nla_type(at) == IFA_FLAGS) flags = u32(at, flags);
  }
  if (!local) local = fallback;
  const int length = info->ifa_family == AF_INET ? 4 : 16;
  if (!local || nla_len(local) != length || info->ifa_prefixlen > length * 8) return true;
  LinkAddress address;
  address.local.family = info->ifa_family == AF_INET ? Family::inet : Family::inet6;
  std::memcpy(address.local.bytes.data(), nla_data(local), static_cast<std::size_t>(length));
  address.prefixlen = info->ifa_prefixlen;
  address.scope = scope_name(info->ifa_scope);
  address.deprecated = (flags & IFA_F_DEPRECATED) != 0;
  address.tentative = (flags & IFA_F_TENTATIVE) != 0;
  if (label != link->second->ifname) address.label = std::move(label);
  link->second->addr_info.push_back(std::move(address));
  return true;
}

}  // namespace

std::string read_addresses(const Sources& sources, std::vector<Link>& links, HostSnapshot& out) {
  ByIndex by_index;
  by_index.reserve(links.size());
  for (Link& link : links) by_index.emplace(link.ifindex, &link);

  ifaddrmsg header{};
  DumpRequest request;
  request.type = RTM_GETADDR;
  request.header.assign(reinterpret_cast<const char*>(&header), sizeof header);
  request.recording = "addr.nl";
  const DumpResult result = netlink_dump(
      sources, request,
      [&] {
        for (Link& link : links) link.addr_info.clear();
      },
      [&](nlmsghdr* message) { return parse_address(message, by_index); });
  if (result.interrupted) note(out, "addresses", "addresses changed while they were read; the list may have gaps");
  return result.error;
}

}  // namespace topoguard::host
