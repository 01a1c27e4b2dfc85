// SPDX-License-Identifier: Apache-2.0
#include "watch/ends.h"

#include <netinet/in.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "nccl_rules/release.h"

namespace topoguard::watch {
namespace {

LinkLayer link_layer_of(std::string_view text) {
  return text == "InfiniBand" ? LinkLayer::infiniband : text == "Ethernet" ? LinkLayer::ethernet : LinkLayer::unknown;
}

Gid as_gid(const IpAddress& address) {
  Gid gid;
  if (address.family == Family::inet6) {
    gid.bytes = address.bytes;
  } else {
    gid.bytes[10] = gid.bytes[11] = 0xFF;
    std::copy_n(address.bytes.begin(), 4, gid.bytes.begin() + 12);
  }
  return gid;
}

// NCCL's port is the HCA's own plus the number of earlier HCAs on the same card (net_ib.cc): with one candidate the
// number does not matter.
const HcaChoice* find_choice(const Decision& decision, const std::string& name, int port) {
  const HcaChoice* only = nullptr;
  int named = 0;
  for (const auto& hca : decision.hcas) {
    if (hca.name != name) continue;
    if (hca.port == port) return &hca;
    only = &hca;
    ++named;
  }
  return named == 1 ? only : nullptr;
}

const RdmaPort* find_port(const HostSnapshot& host, const std::string& name, int port) {
  for (const auto& device : known(host.rdma)) {
    if (device.name != name) continue;
    for (const auto& candidate : device.ports)
      if (candidate.port == port) return &candidate;
    if (device.ports.size() == 1) return &device.ports.front();
  }
  return nullptr;
}

const Link* find_link(const HostSnapshot& host, const std::string& name) {
  for (const auto& link : known(host.links))
    if (link.ifname == name) return &link;
  return nullptr;
}

// What every rank should have alike. Names of this host's things, logs and dumps are a host's own matter.
bool should_agree(std::string_view name) {
  if (name.rfind("NCCL_", 0) != 0 || name.rfind("NCCL_DEBUG", 0) == 0) return false;
  for (const char* own :
       {"NCCL_HOSTID", "NCCL_SOCKET_IFNAME", "NCCL_OOB_NET_IFNAME", "NCCL_IB_HCA", "NCCL_COMM_ID", "NCCL_CONF_FILE",
        "NCCL_NET_PLUGIN", "NCCL_ENV_PLUGIN", "NCCL_IB_GID_INDEX", "NCCL_PROXY_CPUSET", "NCCL_RAS_ADDR"})
    if (name == own) return false;
  return name.find("_FILE") == name.npos;
}

std::uint16_t settings_of(const HostSnapshot& host) {
  Fingerprint print;
  for (const auto& [name, value] : host.env) {
    if (!should_agree(name)) continue;
    print.add(name);
    print.add("=");
    print.add(value);
    print.add("\n");
  }
  return print.value();
}

std::uint16_t decision_of(const Session& session) {
  const Decision& decision = session.decision;
  Fingerprint print;
  print.add(transport_name(decision.transport));
  print.add(
      std::to_string(decision.transport == Transport::ib ? decision.hcas.size() : decision.socket.ifnames.size()));
  print.add(session.policy.mode == Mode::observe ? "observe" : "enforce");
  return print.value();
}

void fill_hca(const Session& session, OwnEnd& end, const std::string& name) {
  Trailer& facts = end.facts;
  const HcaChoice* choice = find_choice(session.decision, name, end.device.port);
  if (choice != nullptr) end.device.port = choice->port;
  const RdmaPort* seen = find_port(session.host, name, end.device.port);
  if (choice != nullptr) {
    facts.link_layer = link_layer_of(choice->link_layer);
    if (choice->gid) facts.address = *choice->gid;
    if (facts.link_layer == LinkLayer::ethernet) end.gid_index = choice->gid_index;
    if (choice->netdev) end.netdev = *choice->netdev;
  }
  if (seen == nullptr) return;
  if (facts.link_layer == LinkLayer::unknown && seen->link_layer) facts.link_layer = link_layer_of(*seen->link_layer);
  if (end.netdev.empty() && seen->netdev) end.netdev = *seen->netdev;
  if (seen->active_mtu) facts.mtu = *seen->active_mtu;
  if (facts.link_layer != LinkLayer::ethernet || facts.address.is_zero()) return;
  for (const auto& entry : known(seen->gids)) {
    if (entry.gid != facts.address || (end.gid_index && *end.gid_index != entry.index)) continue;
    if (entry.type) facts.roce_version = entry.type->find("v2") != std::string::npos ? 2 : 1;
    break;
  }
}

std::string words(LinkLayer layer) { return layer == LinkLayer::infiniband ? "InfiniBand" : "Ethernet (RoCE)"; }
std::string words(Carrier carrier) { return carrier == Carrier::ib ? "RDMA (IB)" : "TCP (Socket)"; }

std::string gbps(int speed_100mbps) {
  const int whole = speed_100mbps / 10, rest = speed_100mbps % 10;
  return std::to_string(whole) + (rest != 0 ? "." + std::to_string(rest) : "") + " Gb/s";
}

std::string release_text(int code) {
  const auto release = NcclRelease::parse(std::to_string(code));
  return release ? release->text() : std::to_string(code);
}

}  // namespace

OwnEnd own_end(const Session& session, Carrier carrier, std::string transport, const DeviceName& device,
               int nccl_release) {
  OwnEnd end;
  end.device = device;
  end.transport = std::move(transport);
  end.merged = device.name.find('+') != std::string::npos;
  const std::string name = device.name.substr(0, device.name.find('+'));
  Trailer& facts = end.facts;
  facts.carrier = carrier;
  facts.nccl_release = nccl_release;
  if (device.speed_mbps > 0) facts.speed_100mbps = device.speed_mbps / 100;
  facts.settings = settings_of(session.host);
  facts.decision = decision_of(session);
  if (carrier == Carrier::ib) {
    fill_hca(session, end, name);
  } else if (carrier == Carrier::socket) {
    end.netdev = name;
    if (const Link* link = find_link(session.host, name)) {
      facts.link_layer = link->link_type == "infiniband" ? LinkLayer::infiniband : LinkLayer::ethernet;
      facts.mtu = link->mtu.value_or(0);
    }
    const auto meant = session.decision.socket.addresses.find(name);
    if (meant != session.decision.socket.addresses.end()) set_address(facts, meant->second);
  }
  facts.inet6 = !facts.address.is_zero() && !facts.address.is_ipv4_mapped();
  return end;
}

void set_address(Trailer& facts, const IpAddress& address) {
  facts.address = as_gid(address);
  facts.inet6 = address.family == Family::inet6;
}

std::string SocketAddress::text() const {
  const std::string host = address.text();
  return (address.family == Family::inet6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::optional<SocketAddress> handle_address(const void* handle) {
  SocketAddress found;
  sa_family_t family = 0;
  std::memcpy(&family, handle, sizeof family);
  if (family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, handle, sizeof in);
    found.address.family = Family::inet;
    std::memcpy(found.address.bytes.data(), &in.sin_addr, 4);
    found.port = ntohs(in.sin_port);
  } else if (family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, handle, sizeof in);
    found.address.family = Family::inet6;
    std::memcpy(found.address.bytes.data(), &in.sin6_addr, 16);
    found.port = ntohs(in.sin6_port);
  } else {
    return std::nullopt;
  }
  if (found.port == 0 || found.address.is_unspecified()) return std::nullopt;
  return found;
}

std::string device_text(const DeviceName& device) {
  if (device.name.empty()) return "device " + std::to_string(device.number);
  return device.name + (device.port > 0 ? " port " + std::to_string(device.port) : "");
}

std::string address_text(const Trailer& trailer) {
  if (trailer.address.is_zero()) return {};
  return trailer.carrier == Carrier::ib ? trailer.address.text() : trailer.address.address().text();
}

std::string detail_text(const Trailer& trailer) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (trailer.nccl_release > 0) add("NCCL " + release_text(trailer.nccl_release));
  if (trailer.carrier == Carrier::ib && trailer.link_layer == LinkLayer::infiniband) add("InfiniBand");
  if (trailer.carrier == Carrier::ib && trailer.link_layer == LinkLayer::ethernet)
    add(trailer.roce_version > 0 ? "RoCE v" + std::to_string(trailer.roce_version) : "RoCE");
  if (trailer.carrier == Carrier::socket) add("TCP");
  if (trailer.mtu > 0) add("MTU " + std::to_string(trailer.mtu));
  if (trailer.speed_100mbps > 0) add(gbps(trailer.speed_100mbps));
  return text;
}

std::vector<Finding> differences(const OwnEnd& own, const Trailer& peer, const std::string& peer_text) {
  std::vector<Finding> found;
  const Trailer& mine = own.facts;
  const std::string device = own.device.name;
  const auto add = [&](Severity severity, std::string_view code, std::string message, std::string remedy) {
    found.push_back({severity, std::string(code), device,
                     device_text(own.device) + " here and " + peer_text + ": " + std::move(message),
                     std::move(remedy)});
  };
  const bool carriers_known = mine.carrier != Carrier::unknown && peer.carrier != Carrier::unknown;
  if (carriers_known && mine.carrier != peer.carrier) {
    add(Severity::error, "transport-mismatch",
        "this end uses " + words(mine.carrier) + ", the other " + words(peer.carrier) + ", so they can never connect",
        "Run `topoguard` on both hosts: it says why RDMA is not used on the one that runs over TCP. Or set "
        "NCCL_IB_DISABLE=1 on all ranks.");
    return found;
  }
  const bool rdma = mine.carrier == Carrier::ib && peer.carrier == Carrier::ib;
  if (rdma && mine.link_layer != LinkLayer::unknown && peer.link_layer != LinkLayer::unknown &&
      mine.link_layer != peer.link_layer) {
    add(Severity::error, "link-layer-mismatch",
        "this end is " + words(mine.link_layer) + ", the other " + words(peer.link_layer) +
            ", so they can never connect",
        "Name HCAs of one kind in NCCL_IB_HCA on every host.");
    return found;
  }
  const bool roce = rdma && mine.link_layer == LinkLayer::ethernet;
  if (roce && mine.roce_version > 0 && peer.roce_version > 0 && mine.roce_version != peer.roce_version)
    add(Severity::warning, "gid-type-mismatch",
        "this end's GID is RoCE v" + std::to_string(mine.roce_version) + ", the other's RoCE v" +
            std::to_string(peer.roce_version),
        "Give both ports a RoCE v2 GID (an IPv4 address on the interface), or set NCCL_IB_ROCE_VERSION_NUM on all "
        "ranks.");
  // Sockets are not of this end's family but of the peer's listener (socket.cc): hosts with both families do connect
  // so, and where the peer's is missing here, there is no route.
  if (roce && !mine.address.is_zero() && !peer.address.is_zero() && mine.inet6 != peer.inet6)
    add(Severity::warning, "gid-type-mismatch",
        std::string("this end uses ") + (mine.inet6 ? "IPv6" : "IPv4") + ", the other " +
            (peer.inet6 ? "IPv6" : "IPv4"),
        "Give both interfaces addresses of one family, or set NCCL_IB_ADDR_FAMILY on all ranks.");
  if (mine.mtu > 0 && peer.mtu > 0 && mine.mtu != peer.mtu)
    add(Severity::warning, "mtu-mismatch",
        "MTU " + std::to_string(mine.mtu) + " on this end, " + std::to_string(peer.mtu) +
            " on the other: large transfers can stall or fail",
        "Set one MTU on all interfaces and switches between the hosts (ip link set DEV mtu N).");
  if (mine.speed_100mbps > 0 && peer.speed_100mbps > 0 && mine.speed_100mbps != peer.speed_100mbps)
    add(Severity::warning, "speed-mismatch",
        gbps(mine.speed_100mbps) + " on this end, " + gbps(peer.speed_100mbps) +
            " on the other: the slower one sets the pace",
        "Check cable, port and switch of the slower one; topoguard compare shows all hosts side by side.");
  if (mine.nccl_release > 0 && peer.nccl_release > 0 && mine.nccl_release != peer.nccl_release)
    add(Severity::warning, "nccl-version-mismatch",
        "NCCL " + release_text(mine.nccl_release) + " on this end, " + release_text(peer.nccl_release) +
            " on the other",
        "Use one NCCL release on all ranks.");
  if (mine.settings != 0 && peer.settings != 0 && mine.settings != peer.settings)
    add(Severity::warning, "env-mismatch", "the NCCL_* variables of the two ranks differ",
        "Set the same NCCL_* variables on all ranks; topoguard snapshot on both hosts and topoguard compare tell which "
        "differ.");
  if (mine.decision != 0 && peer.decision != 0 && mine.decision != peer.decision)
    add(Severity::warning, "decision-mismatch",
        "topoguard decided differently on the two hosts (another number of devices, or another mode)",
        "topoguard snapshot on both hosts and topoguard compare tell what differs.");
  return found;
}

}  // namespace topoguard::watch
