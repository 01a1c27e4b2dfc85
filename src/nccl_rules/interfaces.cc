// SPDX-License-Identifier: Apache-2.0
#include "nccl_rules/interfaces.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "nccl_rules/name_list.h"

namespace topoguard {
namespace {

constexpr int kHashBuckets = 256;

/// An unknown kernel counts as a new one.
bool dumps_by_hash(const std::optional<std::string>& kernel) {
  if (!kernel) return false;
  const auto version = NcclRelease::parse(*kernel);
  return version && *version < NcclRelease{6, 9, 0};
}

struct Search {
  const NcclRelease& release;
  const std::vector<HostAddress>& addresses;
  std::optional<Family> family;
  std::size_t limit;

  std::vector<NcclInterface> by_list(std::string_view text) const {
    const auto list = NameList::parse(text);
    std::vector<NcclInterface> found;
    for (const auto& host : addresses) {
      const auto& [link, address] = host;
      const auto& name = host.name();
      if (found.size() >= limit) break;
      if (release.needs_running() && !link_running(*link)) continue;
      if (family && address->family() != *family) continue;
      if (address->family() == Family::inet6 && address->local.is_loopback()) continue;
      if (!list.takes(name)) continue;
      const bool seen = std::any_of(found.begin(), found.end(), [&name](const auto& f) { return f.name == name; });
      if (!seen) found.push_back({name, address->local, link->ifname});
    }
    return found;
  }

  std::optional<NcclInterface> by_subnet(const CommIdAddress& remote) const {
    for (const auto& host : addresses) {
      const auto& [link, address] = host;
      const auto& local = address->local;
      if (local.family != remote.address.family) continue;
      bool same = Prefix{local, address->prefixlen}.contains(remote.address);
      if (local.family == Family::inet) {
        if (release.subnet_match_inverted()) same = !same;
      } else {
        // sin6_scope_id: the interface on link-local addresses, 0 on others.
        same = same && (local.is_link_local() ? remote.zone == link->ifname : remote.zone.empty());
      }
      if (same) return NcclInterface{host.name(), local, link->ifname};
    }
    return std::nullopt;
  }
};

std::optional<Family> forced_family(const FindVariable& find) {
  const auto* text = find("NCCL_SOCKET_FAMILY");
  if (!text) return std::nullopt;
  if (*text == "AF_INET") return Family::inet;
  if (*text == "AF_INET6") return Family::inet6;
  return std::nullopt;
}

}  // namespace

bool link_running(const Link& link) {
  if (!link.has_flag("UP") || link.has_flag("NO-CARRIER")) return false;
  if (!link.operstate) return true;
  const std::string_view state = *link.operstate;
  return state == "UP" || state == "UNKNOWN" || state.empty();
}

std::vector<HostAddress> getifaddrs_order(const std::vector<Link>& links, const std::optional<std::string>& kernel) {
  std::vector<const Link*> order;
  order.reserve(links.size());
  for (const auto& link : links) order.push_back(&link);
  if (dumps_by_hash(kernel)) {
    std::sort(order.begin(), order.end(), [](const Link* a, const Link* b) {
      return std::tuple(a->ifindex % kHashBuckets, b->ifindex, std::string_view(a->ifname)) <
             std::tuple(b->ifindex % kHashBuckets, a->ifindex, std::string_view(b->ifname));
    });
  } else {
    std::sort(order.begin(), order.end(), [](const Link* a, const Link* b) {
      return std::tie(a->ifindex, a->ifname) < std::tie(b->ifindex, b->ifname);
    });
  }
  std::vector<HostAddress> addresses;
  for (const auto family : {Family::inet, Family::inet6})
    for (const auto* link : order)
      for (const auto& address : link->addr_info)
        if (address.family() == family) addresses.push_back({link, &address});
  return addresses;
}

std::vector<NcclInterface> nccl_interfaces(const NcclRelease& release, const std::vector<HostAddress>& addresses,
                                           const FindVariable& find, std::size_t limit) {
  const Search search{release, addresses, forced_family(find), limit};
  const auto* user = find("NCCL_SOCKET_IFNAME");
  if (user && user->size() > 1) return search.by_list(*user);

  if (auto found = search.by_list("ib"); !found.empty()) return found;
  const auto* comm_id = find("NCCL_COMM_ID");
  if (comm_id && comm_id->size() > 1)
    if (const auto remote = parse_comm_id(*comm_id))
      if (auto found = search.by_subnet(*remote)) return {*found};

  static constexpr std::array<std::string_view, 3> kUntil227{"^docker,lo", "docker", "lo"};
  static constexpr std::array<std::string_view, 4> kSince228{"^docker,lo,virbr", "docker", "lo", "virbr"};
  const auto try_all = [&](const auto& lists) {
    for (const auto list : lists)
      if (auto found = search.by_list(list); !found.empty()) return found;
    return std::vector<NcclInterface>{};
  };
  return release.skips_virbr() ? try_all(kSince228) : try_all(kUntil227);
}

BootstrapPick nccl_bootstrap(const NcclRelease& release, const std::vector<HostAddress>& addresses,
                             const FindVariable& find) {
  if (const auto* comm_id = find("NCCL_COMM_ID")) {
    if (comm_id->size() <= 1) return {};
    const auto remote = parse_comm_id(*comm_id);
    if (!remote) return {std::nullopt, true};
    return {Search{release, addresses, std::nullopt, 1}.by_subnet(*remote), false};
  }
  const auto found = nccl_interfaces(release, addresses, find, 1);
  if (found.empty()) return {};
  return {found.front(), false};
}

std::optional<CommIdAddress> parse_comm_id(std::string_view text) {
  if (text.empty()) return std::nullopt;
  CommIdAddress result;
  if (text.front() == '[') {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    auto inside = text.substr(1, end - 1);
    if (const auto percent = inside.find('%'); percent != std::string_view::npos) {
      result.zone = std::string(inside.substr(percent + 1));
      inside = inside.substr(0, percent);
    }
    const auto address = IpAddress::parse(inside);
    if (!address || address->family != Family::inet6) return std::nullopt;
    result.address = *address;
    return result;
  }
  const auto address = IpAddress::parse(text.substr(0, text.find(':')));
  if (!address) return std::nullopt;
  result.address = *address;
  return result;
}

}  // namespace topoguard
