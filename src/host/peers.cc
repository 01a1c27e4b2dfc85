// SPDX-License-Identifier: Apache-2.0
#include "host/peers.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "host/file.h"
#include "host/notes.h"

namespace topoguard::host {
namespace {

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::vector<IpAddress> resolve(const std::string& name) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  std::vector<IpAddress> found;
  if (::getaddrinfo(name.c_str(), nullptr, &hints, &list) != 0) return found;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> release(list, &::freeaddrinfo);
  for (const addrinfo* at = list; at; at = at->ai_next) {
    IpAddress address;
    if (at->ai_family == AF_INET) {
      std::memcpy(address.bytes.data(), &reinterpret_cast<const sockaddr_in*>(at->ai_addr)->sin_addr, 4);
    } else if (at->ai_family == AF_INET6) {
      address.family = Family::inet6;
      std::memcpy(address.bytes.data(), &reinterpret_cast<const sockaddr_in6*>(at->ai_addr)->sin6_addr, 16);
    } else {
      continue;
    }
    if (std::find(found.begin(), found.end(), address) == found.end()) found.push_back(address);
  }
  return found;
}

std::vector<IpAddress> hosts_lookup(const std::string& hosts, const std::string& name) {
  std::vector<IpAddress> found;
  std::string_view left = hosts;
  while (!left.empty()) {
    auto line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(line.size() + 1, left.size()));
    line = line.substr(0, line.find('#'));
    std::optional<IpAddress> address;
    bool first = true;
    while (!(line = trim(line)).empty()) {
      const auto word = line.substr(0, line.find_first_of(" \t"));
      line.remove_prefix(word.size());
      if (first)
        address = IpAddress::parse(word);
      else if (address && same_name(word, name)) {
        found.push_back(*address);
        break;
      }
      first = false;
    }
  }
  return found;
}

void read_peers(const Sources& sources, const std::vector<IpAddress>& given, bool may_resolve, HostSnapshot& out) {
  const auto add = [&](const IpAddress& address) {
    if (address.is_loopback() || address.is_unspecified()) return;
    if (std::find(out.peers.begin(), out.peers.end(), address) == out.peers.end()) out.peers.push_back(address);
  };
  for (const IpAddress& address : given) add(address);
  const auto master = out.env.find("MASTER_ADDR");
  if (master == out.env.end() || master->second.empty()) return;
  std::string name = master->second;
  if (name.size() > 2 && name.front() == '[' && name.back() == ']') name = name.substr(1, name.size() - 2);
  name.resize(std::min(name.find('%'), name.size()));  // fe80::1%eth0
  if (const auto numeric = IpAddress::parse(name)) {
    add(*numeric);
    return;
  }
  std::vector<IpAddress> found = hosts_lookup(read_file(sources.etc_path("/hosts"), 1 << 20).text, name);
  if (found.empty() && may_resolve) found = resolve(name);
  for (const IpAddress& address : found) add(address);
  if (found.empty())
    note(out, "peers",
         "MASTER_ADDR=" + name +
             (may_resolve ? " does not resolve"
                          : " is a name that the hosts file does not have; a job does not wait for DNS") +
             "; the other hosts' addresses are unknown");
}

}  // namespace topoguard::host
