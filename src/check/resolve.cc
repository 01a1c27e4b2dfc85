// SPDX-License-Identifier: Apache-2.0
#include "check/resolve.h"

#include <netinet/in.h>
#include <resolv.h>

#include "host/peers.h"

namespace topoguard::check {

std::vector<IpAddress> resolve(const std::string& name) {
  if (const auto numeric = IpAddress::parse(name.substr(0, name.find('%')))) return {*numeric};
  // A name server that is away costs 5 s a try by default (resolv.conf(5)), more than a whole check.
  if (::res_init() == 0) {
    _res.retrans = 1;
    _res.retry = 1;
  }
  return host::resolve(name);
}

}  // namespace topoguard::check
