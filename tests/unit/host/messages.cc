// SPDX-License-Identifier: Apache-2.0
#include "messages.h"

#include <arpa/inet.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include <cstring>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "topoguard/address.h"
#include "tree.h"

namespace topoguard::test {
namespace {

using Keys = std::map<std::string, std::string>;

// The positional words, then key=value.
std::vector<std::string> split(const std::string& line, Keys& keys) {
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string word; in >> word;) {
    const auto equals = word.find('=');
    if (equals == std::string::npos)
      words.push_back(word);
    else
      keys[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return words;
}

unsigned number(const Keys& keys, const std::string& key, unsigned fallback) {
  const auto found = keys.find(key);
  return found == keys.end() ? fallback : static_cast<unsigned>(std::stoul(found->second, nullptr, 0));
}

struct Message {
  std::unique_ptr<nl_msg, void (*)(nl_msg*)> message;
  template <typename Header>
  Message(int type, const Header& header) : message(nlmsg_alloc_simple(type, NLM_F_MULTI), &nlmsg_free) {
    Header copy = header;
    nlmsg_append(message.get(), &copy, sizeof copy, NLMSG_ALIGNTO);
  }
  nl_msg* get() const { return message.get(); }
  void u32(int type, std::uint32_t value) { nla_put_u32(get(), type, value); }
  void text(int type, const std::string& value) { nla_put_string(get(), type, value.c_str()); }
  void address(int type, const IpAddress& value) { nla_put(get(), type, value.bits() / 8, value.bytes.data()); }
  std::string bytes() const {
    const nlmsghdr* header = nlmsg_hdr(get());
    return std::string(reinterpret_cast<const char*>(header), NLMSG_ALIGN(header->nlmsg_len));
  }
};

IpAddress parse(const std::string& text) {
  const auto address = IpAddress::parse(text);
  if (!address) throw std::runtime_error("not an address: " + text);
  return *address;
}

unsigned flag_bits(const std::string& names) {
  const std::map<std::string, unsigned> known = {{"up", IFF_UP},
                                                 {"running", IFF_RUNNING},
                                                 {"lower", IFF_LOWER_UP},
                                                 {"loopback", IFF_LOOPBACK},
                                                 {"broadcast", IFF_BROADCAST},
                                                 {"multicast", IFF_MULTICAST},
                                                 {"pointopoint", IFF_POINTOPOINT},
                                                 {"noarp", IFF_NOARP},
                                                 {"master", IFF_MASTER},
                                                 {"slave", IFF_SLAVE}};
  unsigned bits = 0;
  std::istringstream in(names);
  for (std::string name; std::getline(in, name, ',');) bits |= known.at(name);
  return bits;
}

std::string hex_bytes(const std::string& text) {
  std::string out;
  std::istringstream in(text);
  for (std::string byte; std::getline(in, byte, ':');) out += static_cast<char>(std::stoi(byte, nullptr, 16));
  return out;
}

}  // namespace

std::string done_message() {
  const Message done(NLMSG_DONE, std::int32_t{0});
  return done.bytes();
}

void Messages::add(const std::string& line) {
  if (line.compare(0, 6, "@link ") == 0)
    link(line.substr(6));
  else if (line.compare(0, 6, "@addr ") == 0)
    address(line.substr(6));
  else if (line.compare(0, 7, "@route ") == 0)
    route(line.substr(7));
  else
    throw std::runtime_error("not a line of a tree: " + line);
}

void Messages::link(const std::string& line) {
  Keys keys;
  const auto words = split(line, keys);
  ifinfomsg header{};
  header.ifi_index = std::stoi(words.at(0));
  header.ifi_type = static_cast<unsigned short>(number(keys, "type", 1));
  header.ifi_flags = flag_bits(keys.count("flags") ? keys["flags"] : "up,running,lower,broadcast,multicast");
  Message out(RTM_NEWLINK, header);
  out.text(IFLA_IFNAME, words.at(1));
  out.u32(IFLA_MTU, number(keys, "mtu", 1500));
  nla_put_u8(out.get(), IFLA_OPERSTATE, static_cast<std::uint8_t>(number(keys, "operstate", 6)));
  if (keys.count("address")) {
    const std::string bytes = hex_bytes(keys["address"]);
    nla_put(out.get(), IFLA_ADDRESS, static_cast<int>(bytes.size()), bytes.data());
  }
  if (keys.count("lower")) out.u32(IFLA_LINK, number(keys, "lower", 0));
  if (keys.count("netnsid")) out.u32(IFLA_LINK_NETNSID, number(keys, "netnsid", 0));
  if (keys.count("master")) out.u32(IFLA_MASTER, number(keys, "master", 0));
  if (keys.count("dev")) out.text(56, keys["dev"]);
  if (keys.count("bus")) out.text(57, keys["bus"]);
  if (keys.count("kind") || keys.count("slave")) {
    nlattr* info = nla_nest_start(out.get(), IFLA_LINKINFO);
    if (keys.count("kind")) out.text(IFLA_INFO_KIND, keys["kind"]);
    if (keys.count("slave")) out.text(IFLA_INFO_SLAVE_KIND, keys["slave"]);
    nlattr* data = nla_nest_start(out.get(), IFLA_INFO_DATA);
    for (const auto& [key, value] : keys) {
      if (key.compare(0, 5, "data.") != 0) continue;
      const int type = std::stoi(key.substr(5));
      const auto kind = key.substr(key.rfind('.') + 1);
      const auto n = static_cast<std::uint32_t>(std::stoul(value, nullptr, 0));
      if (kind == "u8")
        nla_put_u8(out.get(), type, static_cast<std::uint8_t>(n));
      else if (kind == "u16")
        nla_put_u16(out.get(), type, static_cast<std::uint16_t>(n));
      else if (kind == "be16")
        nla_put_u16(out.get(), type, htons(static_cast<std::uint16_t>(n)));
      else
        out.u32(type, n);
    }
    nla_nest_end(out.get(), data);
    nla_nest_end(out.get(), info);
  }
  files_["link.nl"] += out.bytes();
  files_["addr.nl"];
}

void Messages::address(const std::string& line) {
  Keys keys;
  const auto words = split(line, keys);
  const auto prefix = Prefix::parse(words.at(1));
  if (!prefix) throw std::runtime_error("not a prefix: " + line);
  ifaddrmsg header{};
  header.ifa_family = prefix->address.family == Family::inet ? AF_INET : AF_INET6;
  header.ifa_prefixlen = static_cast<unsigned char>(prefix->length);
  header.ifa_index = static_cast<unsigned>(std::stoul(words.at(0)));
  header.ifa_scope = static_cast<unsigned char>(number(keys, "scope", prefix->address.is_link_local() ? 253 : 0));
  Message out(RTM_NEWADDR, header);
  const bool both = header.ifa_family == AF_INET || keys.count("peer");
  out.address(IFA_ADDRESS, keys.count("peer") ? parse(keys["peer"]) : prefix->address);
  if (both) out.address(IFA_LOCAL, prefix->address);
  out.u32(IFA_FLAGS, number(keys, "flags", IFA_F_PERMANENT));
  files_["addr.nl"] += out.bytes();
}

void Messages::route(const std::string& line) {
  Keys keys;
  const auto words = split(line, keys);
  const auto table = static_cast<std::uint32_t>(std::stoul(words.at(0)));
  const auto dst = Prefix::parse(words.at(1));
  const auto family = keys.count("family") ? (keys["family"] == "6" ? Family::inet6 : Family::inet)
                      : dst                ? dst->address.family
                      : keys.count("via")  ? parse(keys["via"]).family
                                           : Family::inet;
  rtmsg header{};
  header.rtm_family = family == Family::inet ? AF_INET : AF_INET6;
  header.rtm_table = static_cast<unsigned char>(table < 256 ? table : RT_TABLE_COMPAT);
  header.rtm_dst_len = static_cast<unsigned char>(dst ? dst->length : 0);
  header.rtm_type = static_cast<unsigned char>(number(keys, "type", RTN_UNICAST));
  header.rtm_scope = static_cast<unsigned char>(number(keys, "scope", RT_SCOPE_UNIVERSE));
  header.rtm_protocol = static_cast<unsigned char>(number(keys, "protocol", RTPROT_STATIC));
  header.rtm_flags = number(keys, "flags", 0);
  Message out(RTM_NEWROUTE, header);
  out.u32(RTA_TABLE, table);
  if (dst) out.address(RTA_DST, dst->address);
  if (keys.count("dev")) out.u32(RTA_OIF, number(keys, "dev", 0));
  if (keys.count("metric")) out.u32(RTA_PRIORITY, number(keys, "metric", 0));
  if (keys.count("src")) out.address(RTA_PREFSRC, parse(keys["src"]));
  if (keys.count("via")) {
    const IpAddress via = parse(keys["via"]);
    if (via.family == family) {
      out.address(RTA_GATEWAY, via);
    } else {
      std::string bytes(2, '\0');
      const unsigned short other = via.family == Family::inet ? AF_INET : AF_INET6;
      std::memcpy(bytes.data(), &other, 2);
      bytes.append(reinterpret_cast<const char*>(via.bytes.data()), static_cast<std::size_t>(via.bits() / 8));
      nla_put(out.get(), RTA_VIA, static_cast<int>(bytes.size()), bytes.data());
    }
  }
  if (keys.count("hops")) {
    std::string hops;
    std::istringstream in(keys["hops"]);
    for (std::string hop; std::getline(in, hop, ',');) {
      const IpAddress via = parse(hop.substr(hop.find('/') + 1));
      rtnexthop next{};
      const auto length = static_cast<std::size_t>(via.bits() / 8);
      next.rtnh_len = static_cast<unsigned short>(sizeof next + 4 + length);
      next.rtnh_ifindex = std::stoi(hop);
      const nlattr gateway{static_cast<std::uint16_t>(4 + length), RTA_GATEWAY};
      hops.append(reinterpret_cast<const char*>(&next), sizeof next);
      hops.append(reinterpret_cast<const char*>(&gateway), sizeof gateway);
      hops.append(reinterpret_cast<const char*>(via.bytes.data()), length);
    }
    nla_put(out.get(), RTA_MULTIPATH, static_cast<int>(hops.size()), hops.data());
  }
  const std::string number = family == Family::inet ? "4" : "6";
  files_[table == RT_TABLE_MAIN ? "route" + number + ".nl" : "route-" + std::to_string(table) + "-" + number + ".nl"] +=
      out.bytes();
}

void Messages::write(const std::string& directory) const {
  for (const auto& [file, bytes] : files_) write_file(directory + "/" + file, bytes + done_message());
}

}  // namespace topoguard::test
