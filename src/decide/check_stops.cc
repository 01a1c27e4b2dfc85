// SPDX-License-Identifier: Apache-2.0
// What makes NCCL end with an error before any data flows. NCCL's side: bootstrap.cc bootstrapNetInit, misc/socket.cc
// ncclSocketGetAddrFromString, plugin/net.cc (2.18 to 2.30).
#include <algorithm>

#include "decide/checks.h"
#include "decide/findings.h"

namespace topoguard {
namespace {

Finding error(const char* code, const std::string& message, const std::string& remedy = "") {
  auto finding = make_finding(code, "", message, remedy);
  finding.severity = Severity::error;
  return finding;
}

std::string addresses_here(const View& view) {
  std::string text;
  int listed = 0, more = 0;
  constexpr int kListed = 6;
  for (const auto* link : view.links()) {
    if (view.loopback(*link)) continue;
    for (const auto& address : link->addr_info) {
      if (++listed > kListed) {
        ++more;
        continue;
      }
      text += (text.empty() ? "" : ", ") + link->ifname + " has " + address_text(address);
    }
  }
  if (more > 0) text += " and " + std::to_string(more) + " more";
  return text.empty() ? "no interface but loopback has an address" : text;
}

void no_interface(const View& view, const UserSettings& user, std::vector<Finding>& findings) {
  if (user.ifname) return;  // env-no-match says which list
  if (user.family) {
    const std::string family = *user.find("NCCL_SOCKET_FAMILY");
    findings.push_back(error("no-interface",
                             "NCCL_SOCKET_FAMILY=" + family +
                                 " allows no other addresses, and no interface here has "
                                 "one of that family for NCCL's bootstrap: " +
                                 addresses_here(view) + ". NCCL stops with an error",
                             "Unset NCCL_SOCKET_FAMILY, or give an interface an " +
                                 std::string(*user.family == Family::inet6 ? "IPv6" : "IPv4") + " address."));
    return;
  }
  findings.push_back(error("no-interface",
                           "no interface of this network namespace is up with an address that NCCL takes, not even "
                           "loopback: NCCL finds nothing for its bootstrap and stops with an error"));
}

void network(const UserSettings& user, const TransportChoice& transport, std::vector<Finding>& findings) {
  const auto* net = user.find("NCCL_NET");
  if (!net || net->empty()) return;  // env-empty-value
  if (transport.rule == "user-ib") {
    findings.push_back(
        error("network-unusable", "NCCL_NET=" + *net +
                                      " allows RDMA only, and no HCA can be used here. NCCL stops with an "
                                      "error instead of going over TCP"));
  } else if (same_network_name(*net, "IB") && !user.no_network.empty()) {
    findings.push_back(error("network-unusable",
                             user.no_network +
                                 " contradict each other: the one allows RDMA only, the other switches it "
                                 "off. NCCL stops with an error",
                             "Unset NCCL_IB_DISABLE to use RDMA, or NCCL_NET to use TCP."));
  }
}

/// With NCCL_COMM_ID the bootstrap takes the interface in that address's subnet, and no other.
void comm_id(const View& view, const UserSettings& user, std::vector<Finding>& findings) {
  const auto* text = user.find("NCCL_COMM_ID");
  if (!text || text->empty()) return;  // env-empty-value
  const auto remote = parse_comm_id(*text);
  const bool bracket = text->front() == '[';
  if (text->size() == 1 || (!remote && (bracket || text->find(':') == std::string::npos || text->front() == ':'))) {
    findings.push_back(error("env-syntax",
                             "NCCL_COMM_ID=" + *text +
                                 ": NCCL reads the address and port of rank 0 here, and stops "
                                 "with an error where it cannot",
                             "Write ADDRESS:PORT or [IPV6-ADDRESS]:PORT, the same on every rank, or unset it."));
    return;
  }
  if (!remote || !view.host().links) return;
  if (replay_sockets(view, user, {}).bootstrap.interface) return;
  if (remote->address.family == Family::inet && view.release().subnet_match_inverted()) {
    findings.push_back(error("comm-id-no-interface",
                             "NCCL " + view.release().text() +
                                 " looks for an interface outside the subnet of "
                                 "NCCL_COMM_ID=" +
                                 *text +
                                 " (a fault of 2.29.2 to 2.29.7), and this host has none. NCCL "
                                 "stops with an error",
                             "Use another NCCL release, or unset NCCL_COMM_ID."));
    return;
  }
  findings.push_back(error("comm-id-no-interface",
                           "with NCCL_COMM_ID=" + *text + " NCCL's bootstrap takes the interface in the subnet of " +
                               remote->address.text() + ", and this host has none: " + addresses_here(view) +
                               ". A route is not enough: NCCL stops with an error"));
}

}  // namespace

std::vector<Finding> check_stops(const View& view, const UserSettings& user, const TransportChoice& transport) {
  std::vector<Finding> findings;
  network(user, transport, findings);
  if (transport.rule == "no-interface") no_interface(view, user, findings);
  comm_id(view, user, findings);
  return findings;
}

}  // namespace topoguard
