// SPDX-License-Identifier: Apache-2.0
#include "check/check_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "check/pairs.h"
#include "check/verdict.h"
#include "document/layout.h"
#include "document/printable.h"

namespace topoguard::check {
namespace {

constexpr std::size_t kHosts = 16, kConnections = 24;  // more are listed only where there is a trouble, or all with -v

struct Row {
  std::vector<std::string> cells;
  bool trouble = false;
};

// As wide as their contents, so that all fit; the last one is cut.
std::string table(const std::vector<std::string>& titles, const std::vector<Row>& rows, const TextStyle& style) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < titles.size(); ++i) {
    std::size_t width = titles[i].size();
    for (const Row& row : rows) width = std::max(width, columns(printable(row.cells[i])));
    widths.push_back(std::min<std::size_t>(width, 38));
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string out = " ";
    std::size_t used = 1;
    for (std::size_t i = 0; i < cells.size() && used + 2 < kTextWidth; ++i) {
      const std::size_t width = std::min(widths[i], kTextWidth - used - 1);
      out += " " + padded(cells[i], width);
      used += width + 1;
      if (i + 1 < cells.size() && used + 1 < kTextWidth) {
        out += " ";
        ++used;
      }
    }
    out.resize(out.find_last_not_of(' ') + 1);
    return out;
  };
  std::string out = painted(line(titles), Paint::dim, style.colour) + "\n";
  for (const Row& row : rows)
    out += painted(line(row.cells), row.trouble ? Paint::bad : Paint::none, style.colour) + "\n";
  return out;
}

std::string clock_text(const HostSeen& host) {
  if (!host.clock) return "(rank 0)";
  const double milliseconds = host.clock->seconds * 1e3;
  if (std::fabs(milliseconds) >= 1000) return fmt::format("{:+.1f} s", host.clock->seconds);
  return fmt::format("{:+.1f} ms, +-{:.1f}", milliseconds, host.clock->uncertainty * 1e3);
}

std::string transport_text(const HostDigest& digest) {
  if (digest.transport != Transport::ib) return std::string(transport_name(digest.transport));
  return fmt::format("IB, {} {}", digest.hca_count, digest.hca_count == 1 ? "HCA" : "HCAs");
}

std::vector<Row> host_rows(const Gathered& gathered, const std::vector<std::string>& names, bool all,
                           const std::vector<Finding>& findings) {
  std::set<std::string> named;
  for (const Finding& finding : findings) named.insert(finding.device.substr(0, finding.device.find(' ')));
  std::vector<Row> rows;
  for (std::size_t i = 0; i < gathered.hosts.size(); ++i) {
    const HostSeen& host = gathered.hosts[i];
    if (!all && named.count(names[i]) == 0) continue;
    std::string addresses;
    for (const Offer& offer : host.hello.offers) addresses += (addresses.empty() ? "" : ", ") + offer.text();
    rows.push_back({{names[i], std::to_string(host.hello.rank), transport_text(host.hello.digest),
                     host.hello.digest.nccl_version.value_or("unknown"), clock_text(host), addresses},
                    false});
  }
  return rows;
}

std::string mtu_text(const Probe& probe) {
  if (probe.mtu_state == MtuState::full) return std::to_string(probe.mtu);
  if (probe.mtu_state == MtuState::unknown) return "unknown";
  return fmt::format("{} of {}", probe.mtu, probe.mtu_wanted);
}

std::vector<Row> connection_rows(const Gathered& gathered, const std::vector<std::string>& names) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < gathered.hosts.size(); ++i)
    for (const Probe& probe : gathered.hosts[i].probes) {
      const std::size_t other = host_of(gathered, probe.partner);
      if (other == gathered.hosts.size()) continue;
      const Offer* from = offer_at(gathered.hosts[i].hello, probe.from);
      const Offer* to = offer_at(gathered.hosts[other].hello, probe.to);
      if (from == nullptr || to == nullptr) continue;
      const bool up = probe.tcp == Reach::ok;
      const bool small = probe.mtu_state == MtuState::told || probe.mtu_state == MtuState::black_hole;
      rows.push_back({{names[i] + " " + from->text(), names[other] + " " + to->text(),
                       up ? fmt::format("{:.1f} ms", static_cast<double>(probe.connect_us) / 1e3) : reach_text(probe),
                       up || small ? mtu_text(probe) : "-"},
                      !up || small});
    }
  return rows;
}

std::string first_line(const Gathered& gathered, std::size_t connections, std::size_t troubled) {
  const std::size_t hosts = gathered.hosts.size();
  std::string out = fmt::format("{} {} in {:.1f} s", hosts, hosts == 1 ? "host" : "hosts", gathered.seconds);
  if (gathered.missing_count > 0)
    out += fmt::format(", {} of {} ranks missing", gathered.missing_count, gathered.placement.ranks);
  if (hosts < 2) return out + "; one host alone has no connections to try";
  out +=
      fmt::format("; {} connections, {}", connections,
                  hosts <= kEveryPair ? "every pair of hosts both ways"
                                      : fmt::format("each host with {} others both ways", partners(0, hosts).size()));
  return out + (troubled == 0 ? ": all well" : fmt::format(": {} with a trouble", troubled));
}

}  // namespace

std::string check_text(const Gathered& gathered, const std::vector<Finding>& findings, const TextStyle& style) {
  const auto names = labels(gathered);
  const bool all = style.verbose || gathered.hosts.size() <= kHosts;
  auto connections = connection_rows(gathered, names);
  const auto troubled = static_cast<std::size_t>(
      std::count_if(connections.begin(), connections.end(), [](const Row& row) { return row.trouble; }));
  std::string out = wrapped(first_line(gathered, connections.size(), troubled), 0, 2);
  if (gathered.strangers > 0 && style.verbose)
    out += wrapped(
        fmt::format("{} connections to the meeting's port spoke something else and were ignored", gathered.strangers),
        0, 2);
  const auto hosts = host_rows(gathered, names, all, findings);
  if (!hosts.empty()) {
    out += "\n" + painted("Hosts", Paint::strong, style.colour) + "\n" +
           table({"HOST", "RANK", "TRANSPORT", "NCCL", "CLOCK", "ADDRESSES"}, hosts, style);
  }
  std::size_t left_out = 0;
  if (!style.verbose && connections.size() > kConnections) {
    connections.erase(
        std::remove_if(connections.begin(), connections.end(), [](const Row& row) { return !row.trouble; }),
        connections.end());
    if (connections.size() > kConnections) {
      left_out = connections.size() - kConnections;
      connections.resize(kConnections);
    }
  }
  if (!connections.empty())
    out += "\n" + painted("Connections", Paint::strong, style.colour) + "\n" +
           table({"FROM", "TO", "TCP", "PATH MTU"}, connections, style);
  if (left_out > 0) out += fmt::format("  and {} more with a trouble; --verbose or --json lists all\n", left_out);
  out += "\n" + painted("Findings", Paint::strong, style.colour) + "\n";
  return out + findings_text(findings, style);
}

}  // namespace topoguard::check
