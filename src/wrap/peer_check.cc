// SPDX-License-Identifier: Apache-2.0
#include "wrap/peer_check.h"

#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include "host/route_to.h"
#include "record/record.h"
#include "watch/waiting_text.h"

namespace topoguard {
namespace {

using host::RouteAnswer;
using watch::Carrier;

struct Remembered {
  std::mutex mutex;
  std::set<std::string> said;
  std::map<std::tuple<IpAddress, std::optional<IpAddress>, std::string>, RouteAnswer> routes;
};

// Never destroyed: NCCL may call after static destructors ran.
Remembered& remembered() {
  static auto* state = new Remembered;
  return *state;
}

bool first_time(const Finding& finding, const std::string& peer) {
  auto& state = remembered();
  const std::lock_guard<std::mutex> lock(state.mutex);
  return state.said.insert(finding.code + '\n' + finding.device + '\n' + peer).second;
}

// Asked once per peer; only "there is a route" is for good.
RouteAnswer route(const host::RouteQuestion& question) {
  auto& state = remembered();
  const auto key = std::make_tuple(question.to, question.from, question.device);
  {
    const std::lock_guard<std::mutex> lock(state.mutex);
    const auto found = state.routes.find(key);
    if (found != state.routes.end()) return found->second;
  }
  const RouteAnswer answer = host::ask_route(question);
  if (answer != RouteAnswer::none) {
    const std::lock_guard<std::mutex> lock(state.mutex);
    state.routes.emplace(key, answer);
  }
  return answer;
}

struct NoRoute {
  bool none = false;      // the kernel has no way to it at all
  bool not_here = false;  // it has one, but not by the HCA's own interface
  std::string to, device;
};

NoRoute look_for_route(const watch::OwnEnd& own, const watch::Trailer* peer,
                       const std::optional<watch::SocketAddress>& socket) {
  NoRoute result;
  if (socket && !socket->address.is_link_local()) {
    result.none = route({socket->address, std::nullopt, ""}) == RouteAnswer::none;
    result.to = socket->address.text();
    if (result.none) return result;
  }
  const bool roce = own.facts.carrier == Carrier::ib && own.facts.link_layer == watch::LinkLayer::ethernet;
  if (!roce || peer == nullptr || own.merged || own.netdev.empty() || own.facts.address.is_zero() ||
      peer->address.is_zero() || peer->address.is_link_local() || own.facts.address.is_link_local())
    return result;
  const IpAddress to = peer->address.address(), from = own.facts.address.address();
  if (to.family != from.family || route({to, from, own.netdev}) != RouteAnswer::none) return result;
  // A wire on which all subnets lie works without one; without any route at all there is no hope.
  result.none = route({to, from, ""}) == RouteAnswer::none;
  result.not_here = !result.none;
  result.to = peer->address.text();
  result.device = own.netdev;
  return result;
}

Finding route_finding(const watch::OwnEnd& own, const NoRoute& missing) {
  const std::string address = missing.to.rfind("::ffff:", 0) == 0 ? missing.to.substr(7) : missing.to;
  return {missing.none ? Severity::error : Severity::warning, "peer-unreachable", own.device.name,
          watch::device_text(own.device) + " here and the peer at " + missing.to + ": this host has no route to it" +
              (missing.device.empty() ? "" : " by " + missing.device) +
              (missing.none ? ", so they can never connect"
                            : "; only where both lie on one wire can data flow, else the connection comes up and "
                              "transfers hang"),
          "Give this host a route or an address in that subnet: `ip route get " + address + "`" +
              (missing.device.empty() ? "" : " (and with `oif " + missing.device + "`)") +
              " shows what the kernel would do."};
}

std::string peer_text(const watch::Trailer* peer, const std::optional<watch::SocketAddress>& socket) {
  const std::string address = peer != nullptr ? watch::address_text(*peer) : "";
  if (!address.empty()) return "the peer at " + address;
  return socket ? "the peer at " + socket->address.text() : "the peer";
}

void say_error(const Seat& seat, Finding finding) {
  finding.severity = Severity::error;
  record::found(*seat.session, finding);
  tell(seat.voice(), finding.severity, finding.code, watch::line_of(finding), Reach::process);
}

}  // namespace

PeerVerdict check_peer(const Seat& seat, const watch::OwnEnd& own, const watch::Trailer* peer,
                       const std::optional<watch::SocketAddress>& socket) {
  PeerVerdict verdict;
  const std::string who = peer_text(peer, socket);
  std::vector<Finding> found;
  if (peer != nullptr) found = watch::differences(own, *peer, who);
  for (const Finding& finding : found) {
    if (verdict.trouble.empty()) verdict.trouble = finding.message;
    if (finding.severity == Severity::error && seat.session->enforces()) {
      verdict.refuse = true;
      say_error(seat, finding);
      return verdict;
    }
  }
  if (const NoRoute missing = look_for_route(own, peer, socket); missing.none || missing.not_here) {
    Finding finding = route_finding(own, missing);
    verdict.trouble = finding.message;
    verdict.ask_again = missing.none && seat.session->enforces();
    // Said as an error once it is certain.
    if (!verdict.ask_again) found.push_back(std::move(finding));
  }
  for (Finding& finding : found) {
    finding.severity = Severity::warning;
    if (!first_time(finding, who)) continue;
    record::found(*seat.session, finding);
    tell(seat.voice(), finding.severity, finding.code, watch::line_of(finding), Reach::host);
  }
  return verdict;
}

std::optional<std::string> still_no_route(const Seat& seat, const watch::OwnEnd& own, const watch::Trailer* peer,
                                          const std::optional<watch::SocketAddress>& socket) {
  const NoRoute missing = look_for_route(own, peer, socket);
  if (!missing.none) return std::nullopt;
  const Finding finding = route_finding(own, missing);
  say_error(seat, finding);
  return finding.message;
}

}  // namespace topoguard
