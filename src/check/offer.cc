// SPDX-License-Identifier: Apache-2.0
#include "check/offer.h"

namespace topoguard::check {
namespace {

void add(const HostSnapshot& host, Use use, const std::string& device, const std::string& netdev,
         const IpAddress& address, std::vector<Offer>& out) {
  if (address.is_loopback()) return;
  Offer offer;
  offer.use = use;
  offer.device = device;
  offer.netdev = netdev;
  offer.address = address;
  if (host.links)
    for (const Link& link : *host.links) {
      if (link.ifname != netdev) continue;
      offer.mtu = link.mtu.value_or(0);
      offer.ifindex = link.ifindex;
    }
  out.push_back(std::move(offer));
}

}  // namespace

std::string_view use_name(Use use) { return use == Use::socket ? "socket" : "rdma"; }

std::string Offer::text() const {
  return device + (netdev == device ? "" : " (" + netdev + ")") + " " + address.text();
}

std::vector<Offer> offers(const HostSnapshot& host, const Decision& decision) {
  std::vector<Offer> out;
  for (const std::string& name : decision.socket.ifnames)
    if (const auto at = decision.socket.addresses.find(name); at != decision.socket.addresses.end())
      add(host, Use::socket, name, name, at->second, out);
  for (const HcaChoice& hca : decision.hcas)
    if (hca.link_layer == "Ethernet" && hca.gid && hca.netdev)
      add(host, Use::rdma, hca.name, *hca.netdev, hca.gid->address(), out);
  return out;
}

std::vector<std::size_t> of_use(const std::vector<Offer>& offers, Use use) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < offers.size(); ++i)
    if (offers[i].use == use) out.push_back(i);
  return out;
}

}  // namespace topoguard::check
