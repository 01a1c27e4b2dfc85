// SPDX-License-Identifier: Apache-2.0
#include "watch/waiting_text.h"

#include <algorithm>

namespace topoguard::watch {
namespace {

constexpr std::size_t kNamed = 3;

std::string seconds(double value) { return std::to_string(static_cast<long>(value)) + " s"; }
std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

bool sends(const Waiter& waiter) { return waiter.connection.side == record::Side::send; }

std::string here(const Waiter& waiter) {
  const auto& connection = waiter.connection;
  const std::string name =
      connection.device_name.empty() ? "device " + std::to_string(connection.device) : connection.device_name;
  return "over " + connection.transport + " on " + name +
         (connection.port > 0 ? " port " + std::to_string(connection.port) : "") +
         (connection.local.empty() ? "" : " (" + connection.local + ")");
}

std::string peer_knowledge(const Waiter& waiter) {
  switch (waiter.peer) {
    case PeerKnown::trailer: {
      const auto& connection = waiter.connection;
      std::string text = "the peer has ";
      if (!connection.peer.empty() && waiter.peer_socket.find(connection.peer) == std::string::npos)
        text += connection.peer + ", ";
      return text + connection.peer_detail;
    }
    case PeerKnown::other_version:
      return "the peer runs another topoguard release";
    case PeerKnown::nothing:
      return "the peer runs without topoguard";
    case PeerKnown::not_asked:
      break;
  }
  return {};
}

// 10.0.0.2 of 10.0.0.2:41234, fd00::1 of [fd00::1]:41234
std::string host_of(const std::string& socket) {
  std::string host = socket.substr(0, socket.rfind(':'));
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  return host;
}

struct Advice {
  std::vector<std::string> causes;
  std::string next;
};

Advice advise_sender(const Waiter& waiter) {
  Advice advice;
  const std::string& target = waiter.peer_socket;
  const std::string host = host_of(target);
  const std::string peer = target.empty() ? "the peer" : host;
  const std::string what = waiter.carrier == Carrier::ib ? "NCCL's TCP side channel" : "TCP";
  advice.causes.push_back("a firewall or network policy between the hosts drops " + what + " to " + peer +
                          " (NCCL listens on ports of the ephemeral range)");
  advice.causes.emplace_back("the rank there has ended or hangs before it accepts: the first error in its log tells");
  if (waiter.carrier == Carrier::ib)
    advice.causes.emplace_back("no path between the two HCAs: another rail, VLAN or subnet");
  else
    advice.causes.push_back(peer + " is not the peer's alone: a second host or a bridge has that address");
  if (target.empty())
    advice.next = "`topoguard` on both hosts";
  else
    advice.next = "`nc -vz " + host + " " + target.substr(target.rfind(':') + 1) + "` on this host" +
                  (waiter.netdev.empty() ? "" : ", then `ping -I " + waiter.netdev + " " + host + "`");
  return advice;
}

Advice advise_receiver(const Waiter& waiter) {
  Advice advice;
  advice.causes.emplace_back(
      "the rank that should connect has failed, ended or not come so far: the first error in the other ranks' logs "
      "tells");
  advice.causes.push_back("a firewall or network policy drops TCP to " +
                          (waiter.own_socket.empty() ? std::string("this host") : host_of(waiter.own_socket)));
  advice.causes.emplace_back("the peer waits as well: its own line of this kind names the cause");
  advice.next = "`grep -E 'topoguard (warning|error)|NCCL WARN'` over the other ranks' logs";
  if (!waiter.own_socket.empty())
    advice.next += ", then on their hosts `nc -vz " + host_of(waiter.own_socket) + " " +
                   waiter.own_socket.substr(waiter.own_socket.rfind(':') + 1) + "`";
  return advice;
}

}  // namespace

std::string waiter_text(const Waiter& waiter) {
  if (sends(waiter))
    return "to " +
           (!waiter.peer_socket.empty()       ? waiter.peer_socket
            : !waiter.connection.peer.empty() ? waiter.connection.peer
                                              : std::string("a peer")) +
           " " + here(waiter);
  return "from a peer that should connect" + (waiter.own_socket.empty() ? "" : " to " + waiter.own_socket) + " " +
         here(waiter);
}

Finding waiting_finding(const std::vector<Waiter*>& waiters, double now) {
  Finding finding{Severity::warning, "connection-waiting", waiters.front()->connection.device_name, "", ""};
  std::string& text = finding.message;
  text = counted(waiters.size(), "connection") + " of this process " + (waiters.size() == 1 ? "is" : "are") +
         " not up after " + seconds(now - waiters.front()->since) + ": ";
  for (std::size_t i = 0; i < waiters.size() && i < kNamed; ++i) {
    const Waiter& waiter = *waiters[i];
    text += (i == 0 ? "" : "; ") + waiter_text(waiter) + ", for " + seconds(now - waiter.since);
    const std::string known = peer_knowledge(waiter);
    if (!known.empty()) text += ", " + known;
  }
  if (waiters.size() > kNamed) text += "; and " + std::to_string(waiters.size() - kNamed) + " more";

  const auto sender = std::find_if(waiters.begin(), waiters.end(), [](const Waiter* w) { return sends(*w); });
  const Advice advice = sender != waiters.end() ? advise_sender(**sender) : advise_receiver(*waiters.front());
  text += ". Likely, in this order: ";
  int number = 0;
  const auto add = [&](const std::string& cause) {
    text += (number == 0 ? "(" : "; (") + std::to_string(number + 1) + ") " + cause;
    ++number;
  };
  for (const Waiter* waiter : waiters) {
    if (waiter->trouble.empty()) continue;
    add(waiter->trouble);
    break;
  }
  for (const auto& cause : advice.causes) add(cause);
  finding.remedy = "Next: " + advice.next;
  return finding;
}

Finding late_finding(int connections, double longest) {
  return {Severity::info, "connection-late", "",
          counted(static_cast<std::size_t>(connections), "connection") + " that waited " +
              (connections == 1 ? "is" : "are") + " up after all, after at most " + seconds(longest),
          ""};
}

Finding timeout_finding(const Waiter& waiter, double waited, int limit_s) {
  const Advice advice = sends(waiter) ? advise_sender(waiter) : advise_receiver(waiter);
  return {Severity::error, "connection-timeout", waiter.connection.device_name,
          "the connection " + waiter_text(waiter) + " was not up after " + seconds(waited) +
              " and is ended, as TOPOGUARD_CONNECT_TIMEOUT_S=" + std::to_string(limit_s) + " asks; likely " +
              (waiter.trouble.empty() ? advice.causes.front() : waiter.trouble),
          "Next: " + advice.next};
}

Finding stalled_finding(const std::vector<StalledConnection>& connections) {
  Finding finding{Severity::warning, "transfer-stalled", connections.front().connection.device_name, "", ""};
  int requests = 0;
  for (const auto& entry : connections) requests += entry.requests;
  std::string& text = finding.message;
  text = counted(static_cast<std::size_t>(requests), "transfer") + " on " + counted(connections.size(), "connection") +
         " of this process made no progress for " + seconds(connections.front().longest) + ": ";
  std::string target;
  for (std::size_t i = 0; i < connections.size() && i < kNamed; ++i) {
    const auto& connection = connections[i].connection;
    const bool sending = connection.side == record::Side::send;
    text +=
        (i == 0 ? "" : "; ") + counted(static_cast<std::size_t>(connections[i].requests), sending ? "send" : "receive");
    if (connection.device < 0) continue;
    if (sending && !connection.peer.empty()) {
      text += " to " + connection.peer;
      if (target.empty()) target = connection.peer;
    }
    Waiter waiter;
    waiter.connection = connection;
    text += " " + here(waiter);
  }
  if (connections.size() > kNamed) text += "; and " + std::to_string(connections.size() - kNamed) + " more connections";
  text +=
      ". Likely, in this order: (1) another rank has not come to this operation yet, has failed or hangs: compare the "
      "ranks' logs; (2) the path was cut or drops large packets (link down, MTU, firewall); (3) the GPU has not made "
      "its part";
  finding.remedy = "Next: `py-spy dump` or a debugger on each rank shows where it is" +
                   (target.empty() ? "" : ", `ping -M do -s 1472 " + target + "` whether the path is there");
  return finding;
}

std::string line_of(const Finding& finding) {
  return finding.remedy.empty() ? finding.message : finding.message + ". " + finding.remedy;
}

}  // namespace topoguard::watch
