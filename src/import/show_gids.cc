// SPDX-License-Identifier: Apache-2.0
// Columns: DEV PORT INDEX GID [IPv4] [VER] [DEV], as the show_gids script of MLNX_OFED prints them.
#include <algorithm>

#include "import/problems.h"

namespace topoguard::import {
namespace {

// Heading, rule, and the closing count.
bool decoration(const std::vector<std::string_view>& cells) {
  return cells.empty() || cells[0] == "DEV" || cells[0].find_first_not_of('-') == std::string_view::npos ||
         cells[0].rfind("n_gids_found", 0) == 0;
}

std::vector<GidEntry>& table_of(HostSnapshot& host, std::string_view name, int number) {
  if (!host.rdma) host.rdma.emplace();
  auto device = std::find_if(host.rdma->begin(), host.rdma->end(), [&](const RdmaDevice& d) { return d.name == name; });
  if (device == host.rdma->end()) {
    host.rdma->emplace_back();
    device = host.rdma->end() - 1;
    device->name = name;
  }
  auto port =
      std::find_if(device->ports.begin(), device->ports.end(), [&](const RdmaPort& p) { return p.port == number; });
  if (port == device->ports.end()) {
    device->ports.emplace_back();
    port = device->ports.end() - 1;
    port->port = number;
  }
  if (!port->gids) port->gids.emplace();
  return *port->gids;
}

}  // namespace

void read_show_gids(std::string_view text, Problems& problems, Imported& out, HostSnapshot& host) {
  each_line(text, [&](std::string_view line, int at) {
    const auto cells = words(line);
    if (decoration(cells)) return;
    const int port = cells.size() > 1 ? number(cells[1]) : -1;
    const int index = cells.size() > 2 ? number(cells[2]) : -1;
    const auto gid = cells.size() > 3 ? Gid::parse(cells[3]) : std::nullopt;
    if (port < 1 || port > 255 || index < 0 || !gid) {
      problems.add(at, "DEV PORT INDEX GID [IPv4] VER [DEV]", line);
      return;
    }
    GidEntry entry;
    entry.index = index;
    entry.gid = *gid;
    std::size_t next = 4;
    if (next < cells.size()) {
      if (const auto address = IpAddress::parse(cells[next])) {
        if (*address != gid->address()) {
          problems.add(at, "the GID's own address in column IPv4", cells[next]);
          return;
        }
        ++next;
      }
    }
    if (next < cells.size() && (cells[next] == "v1" || cells[next] == "v2"))
      entry.type = cells[next++] == "v2" ? "RoCE v2" : "IB/RoCE v1";
    if (next < cells.size()) entry.ndev = std::string(cells[next++]);
    if (next < cells.size()) {
      problems.add(at, "DEV PORT INDEX GID [IPv4] VER [DEV]", line);
      return;
    }
    auto& table = table_of(host, cells[0], port);
    if (std::any_of(table.begin(), table.end(), [&](const GidEntry& e) { return e.index == index; })) {
      problems.add(at, "each index once per port", line);
      return;
    }
    // only a RoCE port's GIDs have a netdev
    if (entry.ndev) {
      for (RdmaDevice& device : *host.rdma)
        for (RdmaPort& p : device.ports)
          if (device.name == cells[0] && p.port == port) p.link_layer = "Ethernet";
    }
    if (!entry.gid.is_zero()) table.push_back(std::move(entry));
    ++out.used;
  });
}

}  // namespace topoguard::import
