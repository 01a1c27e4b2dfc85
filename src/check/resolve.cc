// SPDX-License-Identifier: Apache-2.0
#include "check/resolve.h"

#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace topoguard::check {

std::vector<IpAddress> resolve(const std::string& name) {
  if (const auto numeric = IpAddress::parse(name.substr(0, name.find('%')))) return {*numeric};
  // A name server that is away costs 5 s a try by default (resolv.conf(5)), more than a whole check.
  if (::res_init() == 0) {
    _res.retrans = 1;
    _res.retry = 1;
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  std::vector<IpAddress> out;
  if (::getaddrinfo(name.c_str(), nullptr, &hints, &list) != 0) return out;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> release(list, &::freeaddrinfo);
  for (const addrinfo* at = list; at != nullptr; at = at->ai_next) {
    IpAddress address;
    if (at->ai_family == AF_INET) {
      std::memcpy(address.bytes.data(), &reinterpret_cast<const sockaddr_in*>(at->ai_addr)->sin_addr, 4);
    } else if (at->ai_family == AF_INET6) {
      address.family = Family::inet6;
      std::memcpy(address.bytes.data(), &reinterpret_cast<const sockaddr_in6*>(at->ai_addr)->sin6_addr, 16);
    } else {
      continue;
    }
    if (std::find(out.begin(), out.end(), address) == out.end()) out.push_back(address);
  }
  return out;
}

}  // namespace topoguard::check
