// SPDX-License-Identifier: Apache-2.0
#include "host/links.h"

#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>

#include <unordered_map>

#include "host/netlink.h"
#include "host/notes.h"

// Linux 5.14; the headers of Debian 11 are older.
#define TG_IFLA_PARENT_DEV_NAME 56
#define TG_IFLA_PARENT_DEV_BUS_NAME 57

namespace topoguard::host {
namespace {

// A link with what can be resolved only once all of them are known. The message is copied only where its kind has data.
struct Raw {
  Link link;
  unsigned flags = 0;
  bool has_lower = false;
  int lower = 0;
  int master = 0;
  std::string data;        // IFLA_INFO_DATA, whole attribute
  std::string slave_data;  // IFLA_INFO_SLAVE_DATA
};

std::string copy(const nlattr* at) {
  return std::string(reinterpret_cast<const char*>(at), static_cast<std::size_t>(nla_total_size(nla_len(at))));
}

const nlattr* attribute(const std::string& bytes) {
  return bytes.empty() ? nullptr : reinterpret_cast<const nlattr*>(bytes.data());
}

void parse_info(const nlattr* nest, Raw& raw) {
  for_each_attribute(nest, [&](int type, const nlattr* at) {
    if (type == IFLA_INFO_KIND) raw.link.kind = text(at);
    if (type == IFLA_INFO_SLAVE_KIND) raw.link.slave_kind = text(at);
    if (type == IFLA_INFO_DATA) raw.data = copy(at);
    if (type == IFLA_INFO_SLAVE_DATA) raw.slave_data = copy(at);
  });
}

// Names of a snapshot are never empty.
std::optional<std::string> name(const nlattr* at) {
  std::string found = text(at);
  return found.empty() ? std::nullopt : std::optional(std::move(found));
}

// Numbers of a snapshot are never negative.
std::optional<int> whole(std::uint32_t number) {
  const auto value = static_cast<int>(number);
  return value < 0 ? std::nullopt : std::optional(value);
}

bool parse_link(nlmsghdr* header, std::vector<Raw>& raws) {
  if (header->nlmsg_type != RTM_NEWLINK || !nlmsg_valid_hdr(header, sizeof(ifinfomsg))) return true;
  const auto* info = static_cast<const ifinfomsg*>(nlmsg_data(header));
  Raw raw;
  raw.link.ifindex = info->ifi_index;
  raw.flags = info->ifi_flags;
  raw.link.link_type = link_type_name(info->ifi_type);
  int left = nlmsg_attrlen(header, sizeof(ifinfomsg));
  for (nlattr* at = nlmsg_attrdata(header, sizeof(ifinfomsg)); nla_ok(at, left); at = nla_next(at, &left)) {
    switch (nla_type(at)) {
      case IFLA_IFNAME:
        raw.link.ifname = text(at);
        break;
      case IFLA_MTU:
        raw.link.mtu = whole(u32(at));
        break;
      case IFLA_OPERSTATE:
        raw.link.operstate = operstate_name(u8(at));
        break;
      case IFLA_ADDRESS:
        raw.link.address = hardware_address(info->ifi_type, static_cast<const std::uint8_t*>(nla_data(at)),
                                            static_cast<std::size_t>(nla_len(at)));
        break;
      case IFLA_LINK:
        raw.has_lower = true, raw.lower = static_cast<int>(u32(at));
        break;
      case IFLA_LINK_NETNSID:
        raw.link.link_netnsid = whole(u32(at));  // negative: a namespace that has no number here
        break;
      case IFLA_MASTER:
        raw.master = static_cast<int>(u32(at));
        break;
      case IFLA_LINKINFO:
        parse_info(at, raw);
        break;
      case TG_IFLA_PARENT_DEV_NAME:
        raw.link.parentdev = name(at);
        break;
      case TG_IFLA_PARENT_DEV_BUS_NAME:
        raw.link.parentbus = name(at);
        break;
      default:
        break;
    }
  }
  if (!raw.link.ifname.empty() && raw.link.ifindex > 0) raws.push_back(std::move(raw));
  return true;
}

void resolve(std::vector<Raw>& raws, std::vector<Link>& links) {
  std::unordered_map<int, const Raw*> by_index;
  by_index.reserve(raws.size());
  for (const Raw& raw : raws) by_index.emplace(raw.link.ifindex, &raw);
  NameOf names;  // filled only when a kind asks for it
  links.reserve(raws.size());
  for (const Raw& raw : raws)
    if (!raw.data.empty() && names.empty())
      for (const Raw& other : raws) names.emplace(other.link.ifindex, other.link.ifname);

  std::vector<std::string> lower_names(raws.size()), master_names(raws.size());
  for (std::size_t i = 0; i < raws.size(); ++i) {
    Raw& raw = raws[i];
    bool lower_is_down = false;
    if (raw.has_lower && raw.lower != 0) {
      if (raw.link.link_netnsid) {
        raw.link.link_index = raw.lower;
      } else if (const auto found = by_index.find(raw.lower); found != by_index.end()) {
        lower_names[i] = found->second->link.ifname;
        lower_is_down = !(found->second->flags & IFF_UP);
      } else {
        lower_names[i] = "if" + std::to_string(raw.lower);  // as iproute2 spells one that it cannot see
      }
    }
    if (raw.master != 0) {
      const auto found = by_index.find(raw.master);
      master_names[i] = found == by_index.end() ? "if" + std::to_string(raw.master) : found->second->link.ifname;
    }
    raw.link.flags = flag_names(raw.flags, lower_is_down);
    if (raw.link.kind) raw.link.info_data = info_data(*raw.link.kind, attribute(raw.data), names);
    if (raw.link.slave_kind)
      raw.link.info_slave_data = info_slave_data(*raw.link.slave_kind, attribute(raw.slave_data));
  }
  for (std::size_t i = 0; i < raws.size(); ++i) {
    if (!lower_names[i].empty()) raws[i].link.lower = std::move(lower_names[i]);
    if (!master_names[i].empty()) raws[i].link.master = std::move(master_names[i]);
    links.push_back(std::move(raws[i].link));
  }
}

}  // namespace

void read_links(const Sources& sources, HostSnapshot& out) {
  ifinfomsg header{};
  DumpRequest request;
  request.type = RTM_GETLINK;
  request.header.assign(reinterpret_cast<const char*>(&header), sizeof header);
  request.attribute = IFLA_EXT_MASK;
  request.value = RTEXT_FILTER_SKIP_STATS;  // and no list of virtual functions: both cost more than all the rest
  request.recording = "link.nl";

  std::vector<Raw> raws;
  const DumpResult result = netlink_dump(
      sources, request, [&] { raws.clear(); }, [&](nlmsghdr* message) { return parse_link(message, raws); });
  if (!result.error.empty()) {
    note(out, "links",
         "the kernel's list of network interfaces could not be read (" + result.error + "); interfaces are unknown");
    return;
  }
  if (result.interrupted) note(out, "links", "interfaces changed while they were read; the list may have gaps");
  std::vector<Link> links;
  resolve(raws, links);
  const std::string error = read_addresses(sources, links, out);
  if (!error.empty()) {
    note(out, "addresses", "the kernel's list of addresses could not be read (" + error + "); interfaces are unknown");
    return;
  }
  out.links = std::move(links);
}

}  // namespace topoguard::host
