// SPDX-License-Identifier: Apache-2.0
// What each network interface is good for, by the rules of architecture.md section 4 ("Interfaces"), and those that are
// left to choose from. Which of them carries bootstrap and data is decided in sockets.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "decide/filter_use.h"
#include "decide/user_settings.h"
#include "decide/view.h"
#include "topoguard/decision.h"
#include "topoguard/policy.h"

namespace topoguard {

/// Best first: a worse one is looked at only where no better is left.
enum class Standing : unsigned char {
  good,                ///< physical-backed, with an address that other hosts can use
  link_local,          ///< physical-backed, with nothing but link-local addresses
  virtual_good,        ///< virtual, with an address that other hosts might use
  virtual_link_local,  ///< virtual, link-local
  loopback,
  unusable,  ///< down, enslaved, without an address
};

struct InterfaceState {
  const Link* link = nullptr;
  const LinkAddress* address = nullptr;  ///< the one to use; nullptr where none is usable
  Standing standing = Standing::unusable;
  bool excluded = false;  ///< by TOPOGUARD_EXCLUDE
  bool included = true;   ///< by TOPOGUARD_INCLUDE and TOPOGUARD_SUBNETS
  bool named = false;     ///< TOPOGUARD_INCLUDE has its name or kind, not just a subnet it is in
  int policy_rank = 0;    ///< position of its subnet in TOPOGUARD_SUBNETS
  int peers_reached = 0;
  bool peers_unknown = false;  ///< whether it reaches a peer cannot be told
  DeviceVerdict verdict;       ///< as by its own rule row; good ones are eligible until one is chosen
};

/// Why these are the ones left, where that is worth a finding.
enum class PoolKind : unsigned char { normal, link_local, virtual_by_peers, virtual_only, loopback, none };

struct Interfaces {
  std::vector<InterfaceState> all;    ///< as View::links()
  std::vector<InterfaceState*> pool;  ///< those to choose from, best for the bootstrap first; into `all`
  PoolKind kind = PoolKind::none;
  FilterUses filters;
  std::vector<RuleMatch> trace;

  InterfaceState* find(const std::string& ifname);
};

Interfaces judge_interfaces(const View& view, const Policy& policy, const UserSettings& user);

/// Which of its addresses an interface is meant with: in TOPOGUARD_SUBNETS, then in the peers' subnet, of a family that
/// reaches a peer, IPv4 (as NCCL has it), the source of its routes, a subnet before a lone host, the kernel's first. A
/// cloud's IPv4 /32 is no worse than its IPv6 /64. Never a tentative one; deprecated or link-local only where there is
/// no other.
const LinkAddress* best_address(const View& view, const Policy& policy, const UserSettings& user, const Link& link);

/// "10.0.0.11/24"
std::string address_text(const LinkAddress& address);

}  // namespace topoguard
