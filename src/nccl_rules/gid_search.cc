// SPDX-License-Identifier: Apache-2.0
#include "nccl_rules/gid_search.h"

#include <algorithm>
#include <cstdlib>

namespace topoguard {

namespace {

// NCCL_PARAM takes a number in any of C's bases; no digits give 0, an empty value counts as unset.
std::optional<long long> number(const std::string* text) {
  if (text == nullptr || text->empty()) return std::nullopt;
  return std::strtoll(text->c_str(), nullptr, 0);
}

// fe80::/64 and nothing else: NCCL's own test. 169.254/16 passes for it.
bool counts_as_address(const Gid& gid) {
  if (gid.is_zero()) return false;
  static constexpr std::array<std::uint8_t, 8> link_local{0xfe, 0x80, 0, 0, 0, 0, 0, 0};
  return !std::equal(link_local.begin(), link_local.end(), gid.bytes.begin());
}

bool in_range(const GidSettings& settings, const Gid& gid) {
  if (!settings.range) return true;
  // NCCL compares the bytes where an address of the wanted family stands, whatever the GID's own family.
  IpAddress there;
  there.family = settings.family;
  if (settings.family == Family::inet)
    std::copy(gid.bytes.begin() + 12, gid.bytes.end(), there.bytes.begin());
  else
    there.bytes = gid.bytes;
  return settings.range->contains(there);
}

// Entry by index, empty ones included: a table is longer than what a snapshot lists of it, so one more is looked at.
class Table {
 public:
  explicit Table(const std::vector<GidEntry>& entries) {
    for (const auto& entry : entries)
      if (entry.index >= 0) at_.emplace(entry.index, &entry);
  }

  Gid gid(int index) const {
    const auto found = at_.find(index);
    return found == at_.end() ? Gid{} : found->second->gid;
  }

  std::optional<int> version(int index) const {
    const auto found = at_.find(index);
    return found == at_.end() ? std::nullopt : roce_version(*found->second);
  }

  /// Indexes worth looking at: a run of empty entries acts as its first one does.
  std::vector<int> candidates() const {
    std::vector<int> found;
    int expected = 1;
    for (const auto& [index, entry] : at_) {
      if (index < 1) continue;
      if (index > expected) found.push_back(expected);
      found.push_back(index);
      expected = index + 1;
    }
    found.push_back(expected);
    return found;
  }

 private:
  std::map<int, const GidEntry*> at_;
};

GidPick search(const NcclRelease& release, const Table& table, const GidSettings& settings) {
  const bool tolerates_unreadable = release.at_least(26);
  int current = 0;
  for (const int candidate : table.candidates()) {
    const Gid gid = table.gid(candidate), held = table.gid(current);
    const bool wanted = nccl_gid_family(gid) == settings.family && in_range(settings, gid);
    if (!wanted) continue;
    if (nccl_gid_family(held) != settings.family) {
      current = candidate;
      continue;
    }
    if (!counts_as_address(gid)) continue;
    const auto version = table.version(candidate), held_version = table.version(current);
    if ((!version || !held_version) && !tolerates_unreadable) return {std::nullopt, true};
    if (version == settings.roce_version && (version != held_version || !counts_as_address(held))) current = candidate;
  }
  return {current, false};
}

// A routable InfiniBand GID carries its forwarding LID in bytes 4 and 5.
bool has_flid(const Gid& gid) { return gid.bytes[4] != 0 || gid.bytes[5] != 0; }

}  // namespace

std::optional<int> roce_version(const GidEntry& entry) {
  if (!entry.type) return std::nullopt;
  if (*entry.type == "RoCE v2") return 2;
  if (*entry.type == "IB/RoCE v1" || *entry.type == "RoCE v1") return 1;
  return std::nullopt;
}

Family nccl_gid_family(const Gid& gid) {
  static constexpr std::array<std::uint8_t, 12> multicast{0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  const bool mapped = gid.is_ipv4_mapped() || std::equal(multicast.begin(), multicast.end(), gid.bytes.begin());
  return mapped ? Family::inet : Family::inet6;
}

GidSettings GidSettings::read(const NcclRelease& release,
                              const std::function<const std::string*(std::string_view)>& find) {
  GidSettings settings;
  if (const auto index = number(find("NCCL_IB_GID_INDEX")); index && *index >= 0 && *index < 1 << 16)
    settings.index = static_cast<int>(*index);
  if (const auto flid = number(find("NCCL_IB_ROUTABLE_FLID_GID_INDEX")); flid && *flid >= 0 && *flid < 1 << 16)
    settings.flid_index = static_cast<int>(*flid);
  if (!release.searches_gid()) return settings;
  if (const auto version = number(find("NCCL_IB_ROCE_VERSION_NUM"))) settings.roce_version = static_cast<int>(*version);
  if (const auto* family = find("NCCL_IB_ADDR_FAMILY"); family != nullptr && *family == "AF_INET6")
    settings.family = Family::inet6;
  if (const auto* range = find("NCCL_IB_ADDR_RANGE"); range != nullptr && !range->empty()) {
    const bool slash = range->find('/') != std::string::npos;
    if (slash || release.at_least(23))
      if (const auto prefix = Prefix::parse(*range); prefix && prefix->address.family == settings.family)
        settings.range = prefix;
  }
  return settings;
}

GidPick nccl_gid(const NcclRelease& release, std::string_view link_layer, const std::vector<GidEntry>& entries,
                 const GidSettings& settings) {
  if (link_layer == "InfiniBand") {
    if (!release.at_least(22)) return {};
    for (const auto& entry : entries)
      if (entry.index == settings.flid_index && has_flid(entry.gid)) return {settings.flid_index, false};
    return {};
  }
  if (settings.index) return {settings.index, false};
  if (!release.searches_gid()) return {0, false};
  return search(release, Table(entries), settings);
}

}  // namespace topoguard
