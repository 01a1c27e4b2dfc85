// SPDX-License-Identifier: Apache-2.0
#include "decide/sockets.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "nccl_rules/interfaces.h"

namespace topoguard {
namespace {

/// Without a speed in sysfs NCCL takes 10 Gb/s (transport/net_socket.cc ncclNetSocketGetSpeed).
constexpr std::int64_t kUnknownSpeed = 10000;
/// Radio, and a management controller or a phone behind USB, tell none either (drivers/net/usb/cdc_ether.c). They must
/// not outrun a wire that does; a USB NIC worth its name tells.
constexpr std::int64_t kUnknownSlowSpeed = 100;
/// Names that drivers/net/wireless registers begin so.
constexpr std::array<std::string_view, 12> kWirelessDrivers{"iwl",  "ath5k", "ath6k",    "ath9k",    "ath1",    "mt76",
                                                            "mt79", "rtw",   "rtl8xxxu", "brcmfmac", "mwifiex", "wl"};

bool slow_by_nature(const View& view, const Link& link) {
  if (link.parentbus == "usb") return true;
  const auto* device = link.parentdev ? view.pci(*link.parentdev) : nullptr;
  // PCI class 02.80, "other network controller", is what wireless cards have.
  if (device && device->device_class && device->device_class->rfind("0x0280", 0) == 0) return true;
  return link.driver && std::any_of(kWirelessDrivers.begin(), kWirelessDrivers.end(),
                                    [&](std::string_view start) { return link.driver->rfind(start, 0) == 0; });
}

/// The peer that is only known as MASTER_ADDR, which usually sits on a management network.
std::optional<IpAddress> master_peer(const View& view) {
  const auto at = view.host().env.find("MASTER_ADDR");
  if (at == view.host().env.end() || view.peers().empty()) return std::nullopt;
  if (const auto address = IpAddress::parse(at->second)) return address;
  // A name: the collector resolved it into the list of peers, and one peer alone can only be this.
  if (view.peers().size() == 1) return view.peers().front();
  return std::nullopt;
}

std::string speed_text(const View& view, const Link& link) {
  const auto speed = view.speed_mbps(link);
  if (!speed) return "unknown speed";
  return *speed % 1000 == 0 ? std::to_string(*speed / 1000) + " Gb/s" : std::to_string(*speed) + " Mb/s";
}

bool share_subnet(const InterfaceState& a, const InterfaceState& b) {
  const Prefix one{a.address->local, a.address->prefixlen};
  const Prefix other{b.address->local, b.address->prefixlen};
  return one.contains(other.address) || other.contains(one.address);
}

bool share_device(const View& view, const InterfaceState& a, const InterfaceState& b) {
  const auto below_a = view.bottoms(*a.link);
  const auto below_b = view.bottoms(*b.link);
  return std::any_of(below_a.begin(), below_a.end(), [&](const Link* link) {
    return std::find(below_b.begin(), below_b.end(), link) != below_b.end();
  });
}

class Chooser {
 public:
  Chooser(const View& view, const UserSettings& user, Transport transport, Interfaces& interfaces)
      : view_(view), user_(user), transport_(transport), interfaces_(interfaces), master_(master_peer(view)) {}

  SocketChoice choose() {
    if (user_.ifname) return obey_list();
    if (interfaces_.pool.empty()) return {};
    for (auto* state : interfaces_.pool) explain_left_out(*state);
    const auto chosen = transport_ == Transport::ib ? std::vector{interfaces_.pool.front()} : data_interfaces();
    SocketChoice choice;
    for (auto* state : chosen) {
      choice.ifnames.push_back(state->link->ifname);
      choice.addresses[state->link->ifname] = state->address->local;
      mark_chosen(*state, state == chosen.front());
    }
    trace_left_out();
    choice.family = chosen.front()->address->family();
    return choice;
  }

 private:
  SocketChoice obey_list() {
    const auto addresses = getifaddrs_order(known(view_.host().links), view_.host().system.kernel);
    const auto limit = transport_ == Transport::ib ? std::size_t{1} : kMaxInterfaces;
    SocketChoice choice;
    for (const auto& taken : nccl_interfaces(view_.release(), addresses, user_.finder(), limit)) {
      if (choice.ifnames.empty()) choice.family = taken.address.family;
      // A device counts once, though NCCL takes it once more for each alias label.
      if (choice.addresses.emplace(taken.device, taken.address).second) choice.ifnames.push_back(taken.device);
    }
    for (auto& state : interfaces_.all) {
      auto& verdict = state.verdict;
      const bool taken = choice.addresses.find(verdict.name) != choice.addresses.end();
      if (taken) {
        const bool doubtful = verdict.verdict == Verdict::rejected;
        verdict.detail = "taken by the user's NCCL_SOCKET_IFNAME" + (doubtful ? "; by itself " + verdict.detail : "");
        verdict.verdict = Verdict::chosen;
        verdict.reason = "user-listed";
      } else if (verdict.verdict == Verdict::eligible) {
        verdict.reason = "not-listed";
        verdict.detail += "; the user's NCCL_SOCKET_IFNAME leaves it out";
      } else {
        continue;
      }
      interfaces_.trace.push_back(
          {verdict.name, verdict.reason, std::string(verdict_name(verdict.verdict)) + ": " + verdict.detail});
    }
    return choice;
  }

  bool reaches_beyond_master(const InterfaceState& state) const {
    return std::any_of(view_.peers().begin(), view_.peers().end(), [&](const IpAddress& peer) {
      return peer != master_ && view_.reaches(*state.link, peer).value_or(false);
    });
  }

  bool reaches_master(const InterfaceState& state) const {
    return view_.announced() == state.link || (master_ && view_.reaches(*state.link, *master_).value_or(false));
  }

  /// With a route to the peers; where none is known but the master, with a default route or one to the master.
  std::vector<InterfaceState*> with_route(const std::vector<InterfaceState*>& pool) const {
    std::vector<InterfaceState*> found;
    const bool known_peers = knows_peers(view_);
    const auto take = [&](auto wanted) {
      std::copy_if(pool.begin(), pool.end(), std::back_inserter(found),
                   [&](const InterfaceState* state) { return wanted(*state); });
    };
    if (known_peers) take([&](const InterfaceState& s) { return reaches_beyond_master(s); });
    if (found.empty() && known_peers) take([&](const InterfaceState& s) { return s.peers_unknown; });
    if (found.empty()) take([&](const InterfaceState& s) { return reaches_master(s) || view_.default_route(*s.link); });
    if (found.empty()) found = pool;
    return found;
  }

  std::vector<InterfaceState*> data_interfaces() {
    // The operator's first subnet counts before what the routes say of the others.
    auto preferred = interfaces_.pool;
    const auto best_rank = preferred.front()->policy_rank;
    drop(
        preferred, [&](const InterfaceState& s) { return s.policy_rank != best_rank; }, "outside-policy",
        "an earlier subnet of TOPOGUARD_SUBNETS is on another interface");
    auto left = with_route(preferred);
    std::int64_t fastest = 0;
    for (const auto* state : left) fastest = std::max(fastest, reckoned_speed(view_, *state->link));
    drop(
        left, [&](const InterfaceState& s) { return reckoned_speed(view_, *s.link) != fastest; }, "slower",
        "slower than the chosen ones");
    const bool master_tells =
        !knows_peers(view_) && std::any_of(left.begin(), left.end(), [&](const auto* s) { return reaches_master(*s); });
    if (master_tells)
      drop(
          left, [&](const InterfaceState& s) { return !reaches_master(s); }, "no-route-to-peers",
          "as fast as the chosen one, and has no route to MASTER_ADDR");
    // The one that also reaches the master is the best of equals; the pool's order decides the rest.
    std::stable_partition(left.begin(), left.end(), [&](const InterfaceState* s) { return reaches_master(*s); });
    return sharers(left);
  }

  std::vector<InterfaceState*> sharers(const std::vector<InterfaceState*>& equals) {
    std::vector<InterfaceState*> chosen;
    for (auto* state : equals) {
      const auto clashes = [&](const InterfaceState* other) {
        return share_subnet(*state, *other) || share_device(view_, *state, *other);
      };
      const bool same_family = chosen.empty() || state->address->family() == chosen.front()->address->family();
      if (!same_family || chosen.size() == kMaxInterfaces || std::any_of(chosen.begin(), chosen.end(), clashes)) {
        leave_out(*state, "shares-subnet",
                  same_family ? "in the same subnet or over the same device as a chosen one"
                              : "its address is of another family than the chosen one's");
        continue;
      }
      chosen.push_back(state);
    }
    if (chosen.size() < 2) return chosen;
    // With several names NCCL's bootstrap takes the first in its own order, so that one has to stand first.
    std::vector<InterfaceState*> ordered;
    for (const auto& [link, address] : getifaddrs_order(known(view_.host().links), view_.host().system.kernel))
      for (auto* state : chosen)
        if (state->link->ifname == link->ifname && std::find(ordered.begin(), ordered.end(), state) == ordered.end())
          ordered.push_back(state);
    return ordered;
  }

  template <typename Unwanted>
  void drop(std::vector<InterfaceState*>& states, Unwanted unwanted, const char* reason, const std::string& detail) {
    const auto end = std::stable_partition(states.begin(), states.end(),
                                           [&](const InterfaceState* state) { return !unwanted(*state); });
    const auto out = states.end() - end;
    for (auto at = end; at != states.end(); ++at) leave_out(**at, reason, detail);
    states.erase(end, states.end());
    if (out == 0) return;
    for (const auto* state : states)
      interfaces_.trace.push_back(
          {state->link->ifname, reason, described(*state) + ": kept; the row leaves out " + std::to_string(out)});
  }

  void leave_out(InterfaceState& state, const char* reason, const std::string& detail) {
    state.verdict.reason = reason;
    state.verdict.detail = described(state) + ": " + detail;
    compared_.insert(&state);
    interfaces_.trace.push_back({state.link->ifname, reason, "eligible: " + state.verdict.detail});
  }

  std::string described(const InterfaceState& state) const {
    return "has " + address_text(*state.address) + ", " + speed_text(view_, *state.link);
  }

  /// The reason of a usable interface until something better is known: why the others come first.
  void explain_left_out(InterfaceState& state) {
    if (state.verdict.verdict != Verdict::eligible) return;
    if (!view_.peers().empty() && state.peers_reached == 0 && !state.peers_unknown)
      set_aside(state, "no-route-to-peers", "no route to a known peer leaves by it");
    else if (view_.peers().empty() && !view_.default_route(*state.link))
      set_aside(state, "no-default-route", "the default route leaves by another interface");
    else
      set_aside(state, "not-the-best", "another interface comes first");
  }

  void set_aside(InterfaceState& state, const char* reason, const std::string& detail) {
    state.verdict.reason = reason;
    state.verdict.detail = described(state) + ": " + detail;
    set_aside_.push_back(&state);
  }

  /// Those that no row of the comparison spoke about: what was said of them first is the last word.
  void trace_left_out() {
    for (const auto* state : set_aside_)
      if (state->verdict.verdict == Verdict::eligible && compared_.count(state) == 0)
        interfaces_.trace.push_back({state->verdict.name, state->verdict.reason, "eligible: " + state->verdict.detail});
  }

  void mark_chosen(InterfaceState& state, bool first) {
    auto& verdict = state.verdict;
    const bool last_resort = verdict.verdict == Verdict::rejected;
    verdict.detail = described(state) + (last_resort ? "; used because nothing better is left" : "");
    if (interfaces_.kind == PoolKind::virtual_by_peers)
      verdict.reason = "only-way-to-peers";
    else if (last_resort)
      verdict.reason = "only-candidate";
    else if (view_.loopback(*state.link) || view_.kind(*state.link) == "dummy")
      verdict.reason = "only-routable-address";
    else
      verdict.reason = first ? "best-interface" : "equal-share";
    verdict.verdict = Verdict::chosen;
    interfaces_.trace.push_back({state.link->ifname, verdict.reason, "chosen: " + verdict.detail});
  }

  const View& view_;
  const UserSettings& user_;
  Transport transport_;
  Interfaces& interfaces_;
  std::optional<IpAddress> master_;
  std::vector<const InterfaceState*> set_aside_;
  std::set<const InterfaceState*> compared_;
};

}  // namespace

bool knows_peers(const View& view) {
  const auto master = master_peer(view);
  return std::any_of(view.peers().begin(), view.peers().end(), [&](const IpAddress& p) { return p != master; });
}

std::int64_t reckoned_speed(const View& view, const Link& link) {
  if (const auto speed = view.speed_mbps(link)) return *speed;
  const auto below = view.bottoms(link);
  const bool slow =
      std::all_of(below.begin(), below.end(), [&](const Link* bottom) { return slow_by_nature(view, *bottom); });
  return slow ? kUnknownSlowSpeed : kUnknownSpeed;
}

SocketChoice choose_sockets(const View& view, const UserSettings& user, Transport transport, Interfaces& interfaces) {
  return Chooser(view, user, transport, interfaces).choose();
}

}  // namespace topoguard
