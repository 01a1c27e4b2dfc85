// SPDX-License-Identifier: Apache-2.0
#include "document/redact.h"

namespace topoguard {
namespace {

// What the user's lists name, without decoration.
std::vector<std::string> list_tokens(const HostSnapshot& host) {
  std::vector<std::string> out;
  for (const auto* variables : {&host.env, &host.topoguard.config}) {
    for (const auto& [name, value] : *variables) {
      if (name.find("IFNAME") == std::string::npos && name.find("HCA") == std::string::npos &&
          name.find("EXCLUDE") == std::string::npos && name.find("INCLUDE") == std::string::npos)
        continue;
      std::string token;
      for (const char c : value + ",") {
        if (std::string_view("^=, :").find(c) == std::string_view::npos) {
          token += c;
        } else {
          out.push_back(token);
          token.clear();
        }
      }
    }
  }
  return out;
}

template <typename T, typename F>
void change(std::optional<T>& value, F use) {
  if (value) value = use(*value);
}

}  // namespace

Redactor::Redactor(const RedactKey& key, const HostSnapshot& host)
    : host_(host), key_(key), addresses_(key), names_(key, list_tokens(host)) {
  for (const Link& link : known(host.links)) devices_.insert(link.ifname);
  for (const RdmaDevice& device : known(host.rdma)) devices_.insert(device.name);
}

void Redactor::scrub(Link& link) const {
  const auto device = [&](const std::string& name) { return names_.device(name); };
  link.ifname = device(link.ifname);
  change(link.master, device);
  change(link.lower, device);
  if (link.address) {
    const auto hardware = addresses_.hardware(*link.address);
    // tunnels have an IP address there; what is neither tells nothing to a rule
    const auto address = IpAddress::parse(*link.address);
    link.address = hardware ? hardware : address ? std::optional(addresses_.address(*address).text()) : std::nullopt;
  }
  for (LinkAddress& address : link.addr_info) {
    address.local = addresses_.address(address.local);
    // "eth0:1": the part before the colon is mostly a link's name, the rest is what somebody called it
    if (const auto colon = address.label.find(':'); !address.label.empty())
      address.label =
          device(address.label.substr(0, colon)) + (colon == std::string::npos ? "" : address.label.substr(colon));
  }
  for (auto* data : {&link.info_data, &link.info_slave_data}) {
    for (auto& [name, value] : *data) {
      // "8000.02:42:ac:11:00:02", a bridge's id
      const std::size_t dot = value.find('.');
      const auto hardware = dot == 4 ? addresses_.hardware(std::string_view(value).substr(5)) : std::nullopt;
      value = hardware ? value.substr(0, 5) + *hardware : words(value);
    }
  }
}

void Redactor::scrub(Route& route) const {
  const auto device = [&](const std::string& name) { return names_.device(name); };
  const auto address = [&](const IpAddress& plain) { return addresses_.address(plain); };
  change(route.dst, [&](const Prefix& prefix) { return addresses_.prefix(prefix); });
  change(route.gateway, address);
  change(route.prefsrc, address);
  change(route.dev, device);
  for (RouteHop& hop : route.nexthops) {
    change(hop.gateway, address);
    change(hop.dev, device);
  }
}

void Redactor::scrub(RdmaDevice& device) const {
  const auto name = [&](const std::string& plain) { return names_.device(plain); };
  device.name = name(device.name);
  for (RdmaPort& port : device.ports) {
    change(port.netdev, name);
    if (!port.gids) continue;
    for (GidEntry& entry : *port.gids) {
      entry.gid = addresses_.gid(entry.gid);
      change(entry.ndev, name);
    }
  }
}

HostSnapshot Redactor::snapshot() const {
  HostSnapshot out = host_;
  change(out.system.hostname, [&](const std::string& name) { return names_.host(name); });
  for (auto* variables : {&out.env, &out.topoguard.config})
    for (auto& [name, value] : *variables) value = variable(name, value);
  if (out.links)
    for (Link& link : *out.links) scrub(link);
  if (out.routes)
    for (Route& route : *out.routes) scrub(route);
  if (out.rdma)
    for (RdmaDevice& device : *out.rdma) scrub(device);
  if (out.paths)
    for (GpuPath& gpu_path : *out.paths) gpu_path.device = names_.device(gpu_path.device);
  for (IpAddress& peer : out.peers) peer = addresses_.address(peer);
  if (out.plugins)
    for (Plugin& plugin : *out.plugins) plugin.path = path(plugin.path);
  change(out.topoguard.bootstrap, [&](const std::string& name) { return names_.device(name); });
  for (std::string& note : out.notes) note = words(note);
  return out;
}

}  // namespace topoguard
