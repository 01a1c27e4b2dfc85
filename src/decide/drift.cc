// SPDX-License-Identifier: Apache-2.0
#include "decide/drift.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "decide/findings.h"
#include "nccl_rules/gid_search.h"
#include "nccl_rules/interfaces.h"

namespace topoguard {
namespace {

template <typename T>
const T* named(const std::vector<T>& list, std::string T::*member, const std::string& name) {
  const auto at = std::find_if(list.begin(), list.end(), [&](const T& item) { return item.*member == name; });
  return at == list.end() ? nullptr : &*at;
}

const RdmaPort* port_of(const HostSnapshot& host, const HcaChoice& hca) {
  const auto* device = named(known(host.rdma), &RdmaDevice::name, hca.name);
  if (device == nullptr) return nullptr;
  for (const auto& port : device->ports)
    if (port.port == hca.port) return &port;
  return nullptr;
}

bool holds(const Link& link, const IpAddress& address) {
  return std::any_of(link.addr_info.begin(), link.addr_info.end(),
                     [&](const LinkAddress& held) { return held.local == address; });
}

std::string addresses(const Link& link) {
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, link.addr_info.size()); ++i)
    text += (i > 0 ? ", " : "") + link.addr_info[i].local.text();
  if (link.addr_info.size() > kMost) text += fmt::format(" and {} more", link.addr_info.size() - kMost);
  return text.empty() ? "none" : text;
}

void check_link(const Link& was, const Link* is, std::vector<Finding>& findings) {
  const auto add = [&](const std::string& text) {
    findings.push_back(
        make_finding("link-drift", was.ifname, text + "; NCCL goes on using it by its name and address"));
  };
  if (is == nullptr)
    add("was there when the first communicator was created, and is gone");
  else if (link_running(was) && !link_running(*is))
    add("was up with carrier, and is now " + std::string(is->has_flag("UP") ? "without carrier" : "switched off"));
  else if (was.speed_mbps && is->speed_mbps && *is->speed_mbps > 0 && *is->speed_mbps < *was.speed_mbps)
    add(fmt::format("ran at {} Mb/s, and runs at {} now", *was.speed_mbps, *is->speed_mbps));
}

void check_address(const Link& was, const Link* is, const SocketChoice& choice, std::vector<Finding>& findings) {
  const auto at = choice.addresses.find(was.ifname);
  if (is == nullptr || at == choice.addresses.end() || !holds(was, at->second) || holds(*is, at->second)) return;
  findings.push_back(make_finding(
      "address-drift", was.ifname,
      fmt::format("had {}, by which NCCL knows it, and now has {}; NCCL tells other ranks the old address, and "
                  "connections to it will fail",
                  at->second.text(), addresses(*is))));
}

bool check_port(const HcaChoice& hca, const RdmaPort* was, const RdmaPort* is, std::vector<Finding>& findings) {
  if (was == nullptr) return false;
  if (is != nullptr && (was->state != "ACTIVE" || !is->state || *is->state == "ACTIVE")) return true;
  findings.push_back(make_finding(
      "port-drift", hca.name,
      fmt::format("port {} was {}, and {}; NCCL keeps it in its list of devices, and connections over it will fail",
                  hca.port, was->state.value_or("there"), is == nullptr ? "is gone" : "is now " + *is->state)));
  return false;
}

// NCCL's variables stay as they were at its first look, the table does not. The releases that search do so again for
// each connection.
class GidReplay {
 public:
  GidReplay(const HostSnapshot& host, const Decision& decided)
      : release_((host.nccl_version ? NcclRelease::parse(*host.nccl_version) : std::nullopt).value_or(kNewestNccl)),
        settings_(GidSettings::read(release_, [&](std::string_view name) -> const std::string* {
          const std::string key(name);
          if (const auto own = host.env.find(key); own != host.env.end()) return &own->second;
          const auto ours = decided.env.find(key);
          return ours == decided.env.end() ? nullptr : &ours->second;
        })) {}

  GidPick pick(const HcaChoice& hca, const std::vector<GidEntry>& table) const {
    return nccl_gid(release_, hca.link_layer, table, settings_);
  }

 private:
  NcclRelease release_;
  GidSettings settings_;
};

const GidEntry* entry_at(const std::vector<GidEntry>& table, int index) {
  for (const auto& entry : table)
    if (entry.index == index && !entry.gid.is_zero()) return &entry;
  return nullptr;
}

void check_gid(const HostSnapshot& before, const Decision& decided, const HcaChoice& hca, const RdmaPort& was,
               const RdmaPort& is, std::vector<Finding>& findings) {
  if (!hca.gid_index || !hca.gid || !is.gids || !was.gids) return;
  const auto* old = entry_at(*was.gids, *hca.gid_index);
  const auto* now = entry_at(*is.gids, *hca.gid_index);
  if (old == nullptr || (now != nullptr && now->gid == old->gid && now->type == old->type)) return;
  const auto moved = std::find_if(is.gids->begin(), is.gids->end(), [&](const GidEntry& entry) {
    return entry.gid == old->gid && entry.type == old->type;
  });
  const auto pick = GidReplay(before, decided).pick(hca, *is.gids);
  const bool follows = moved != is.gids->end() && !pick.fails && pick.index == moved->index;
  std::string text =
      fmt::format("port {}: GID index {} was {}, and {}", hca.port, *hca.gid_index, old->gid.address().text(),
                  now == nullptr ? "is now empty" : "is now " + now->gid.address().text());
  text += moved != is.gids->end() ? fmt::format("; that GID is at index {} now", moved->index) : "; that GID is gone";
  if (follows)
    text += "; NCCL finds it there for new connections, and those made before will fail";
  else if (pick.index && pick.index == hca.gid_index)
    text += fmt::format("; NCCL has cached index {}, and cannot be steered again", *hca.gid_index);
  else
    text += "; new connections take " + (pick.index ? fmt::format("index {}", *pick.index) : std::string("none")) +
            ", and NCCL cannot be steered again";
  findings.push_back(make_finding("gid-drift", hca.name, text));
}

std::string outcome(const Decision& decision) {
  std::string text(transport_name(decision.transport));
  std::string devices;
  if (decision.transport == Transport::ib)
    for (const auto& hca : decision.hcas)
      devices += fmt::format("{}{}:{}", devices.empty() ? "" : ", ", hca.name, hca.port);
  else
    for (const auto& name : decision.socket.ifnames) devices += (devices.empty() ? "" : ", ") + name;
  return devices.empty() ? text : text + " over " + devices;
}

}  // namespace

HostSnapshot seen_again(HostSnapshot before, const HostSnapshot& now) {
  if (now.links) before.links = now.links;
  if (!now.rdma) return before;
  auto devices = *now.rdma;
  for (auto& device : devices)
    if (const auto* was = named(known(before.rdma), &RdmaDevice::name, device.name)) device.usable = was->usable;
  before.rdma = std::move(devices);
  return before;
}

std::vector<Finding> find_drift(const HostSnapshot& before, const Decision& decided, const HostSnapshot& after,
                                const Decision& would) {
  std::vector<Finding> findings;
  for (const auto& name : decided.socket.ifnames) {
    const auto* was = named(known(before.links), &Link::ifname, name);
    const auto* is = named(known(after.links), &Link::ifname, name);
    if (was == nullptr || !after.links) continue;
    check_link(*was, is, findings);
    check_address(*was, is, decided.socket, findings);
  }
  for (const auto& hca : decided.hcas) {
    const auto* was = port_of(before, hca);
    const auto* is = port_of(after, hca);
    if (!after.rdma || !check_port(hca, was, is, findings)) continue;
    check_gid(before, decided, hca, *was, *is, findings);
  }
  if (findings.empty() && outcome(decided) != outcome(would))
    findings.push_back(make_finding(
        "choice-drift", "", fmt::format("this job runs {}; a new one would run {}", outcome(decided), outcome(would))));
  return findings;
}

}  // namespace topoguard
