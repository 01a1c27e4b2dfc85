// SPDX-License-Identifier: Apache-2.0
#include "host/file.h"
#include "host/rdma.h"

namespace topoguard::host {

std::optional<std::vector<GidEntry>> read_gids(int port) {
  const Fd gids = open_directory_at(port, "gids");
  if (!gids) return std::nullopt;
  const Listing listing = list_directory_at(gids.get());
  if (!listing) return std::nullopt;
  const Fd types = open_directory_at(port, "gid_attrs/types");
  const Fd ndevs = open_directory_at(port, "gid_attrs/ndevs");
  std::vector<GidEntry> entries;
  for (const std::string& name : listing.names) {
    const auto index = parse_number(name);
    if (!index || *index < 0 || *index > 65535) continue;
    const auto word = read_word_at(gids.get(), name.c_str());
    const auto gid = word ? Gid::parse(*word) : std::nullopt;
    if (!gid || gid->is_zero()) continue;
    GidEntry entry;
    entry.index = static_cast<int>(*index);
    entry.gid = *gid;
    if (types)
      if (auto type = read_word_at(types.get(), name.c_str()); type && !type->empty()) entry.type = std::move(type);
    if (ndevs)
      if (auto ndev = read_word_at(ndevs.get(), name.c_str()); ndev && !ndev->empty()) entry.ndev = std::move(ndev);
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace topoguard::host
