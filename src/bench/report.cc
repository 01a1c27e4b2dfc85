// SPDX-License-Identifier: Apache-2.0
#include "bench/report.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "document/printable.h"

namespace topoguard::bench {
namespace {

using nlohmann::ordered_json;

const char* traffic_text(Traffic traffic) { return traffic == Traffic::ping_pong ? "ping-pong" : "stream"; }

std::string bandwidth_text(double bytes) {
  return bytes >= 1e9 ? fmt::format("{:.2f} GB/s", bytes / 1e9) : fmt::format("{:.1f} MB/s", bytes / 1e6);
}

std::string devices_text(const NetSeen& net) {
  std::string text;
  for (const NetDevice& device : net.devices) text += (text.empty() ? "" : ", ") + printable(device.name, 60);
  return text;
}

void put_measure(std::string& out, const Row& row, const Measure& measure, const std::string& who) {
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "{:<10} {:>8}  {:<14}", traffic_text(row.traffic), size_text(row.size), who);
  if (row.traffic == Traffic::ping_pong) {
    const auto& times = measure.round_trips;
    fmt::format_to(to, "  round trip us: {:.1f} (90% {:.1f}, 99% {:.1f}, 99.9% {:.1f}, max {:.1f})", times[0], times[1],
                   times[2], times[3], times[4]);
  } else {
    fmt::format_to(to, "  {} ({} to {}), {:.0f} messages/s, CPU {:.3f} ns/byte",
                   bandwidth_text(measure.bandwidth.median), bandwidth_text(measure.bandwidth.low),
                   bandwidth_text(measure.bandwidth.high), measure.rate, measure.cpu_per_byte);
  }
  out += '\n';
}

ordered_json as_json(const Spread& spread) {
  return {{"median", spread.median},
          {"low", spread.low},
          {"high", spread.high},
          {"surely_low", spread.surely_low},
          {"surely_high", spread.surely_high},
          {"samples", spread.count}};
}

ordered_json as_json(const Measure& measure) {
  ordered_json out;
  if (!measure.round_trips.empty()) {
    out["latency_us"] = as_json(measure.latency);
    const auto& times = measure.round_trips;
    out["round_trip_us"] = {
        {"p50", times[0]}, {"p90", times[1]}, {"p99", times[2]}, {"p99_9", times[3]}, {"max", times[4]}};
  }
  out["bytes_per_s"] = as_json(measure.bandwidth);
  out["messages_per_s"] = measure.rate;
  out["cpu_ns_per_byte"] = measure.cpu_per_byte;
  out["connect_ms"] = measure.connect;
  return out;
}

}  // namespace

std::string bench_text(const Result& result) {
  std::string out;
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "NCCL {} ({}), {} memory, {} connection(s), {} rounds with fresh connections, both ends in {}\n",
                 result.nccl_release, printable(result.nccl_path, 200), result.request.plan.memory,
                 result.request.plan.connections, result.request.rounds,
                 result.two_processes ? "processes of their own" : "this process");
  for (std::size_t i = 0; i < result.nets.size(); ++i) {
    const NetSeen& net = result.nets[i];
    fmt::format_to(to, "{}{} ({}, net API v{}): {}\n", result.request.compare ? (i == 0 ? "A: " : "B: ") : "",
                   printable(net.source, 200), printable(net.name, 60), net.api, devices_text(net));
  }
  if (result.request.compare)
    fmt::format_to(to, "isend, irecv, iflush and test of B {}\n",
                   result.same_functions ? "are A's own functions" : "are not A's functions");
  out += '\n';
  for (const Row& row : result.rows) {
    if (!row.b) {
      put_measure(out, row, row.a, "");
      continue;
    }
    put_measure(out, row, row.a, "A");
    put_measure(out, row, *row.b, "B");
    fmt::format_to(
        to, "{:<10} {:>8}  {:<14}  {:.3f} ({:.3f} to {:.3f}); A/A {:.3f} ({:.3f} to {:.3f}): {}\n", "", "", "time B/A",
        row.ratio.median, row.ratio.low, row.ratio.high, row.control.median, row.control.low, row.control.high,
        row.within_control() ? "no difference beyond A's own" : (row.ratio.median > 1 ? "B is slower" : "B is faster"));
  }
  fmt::format_to(to, "\nEvery byte was checked. Load of this machine: {:.1f} on {} processors.\n", result.load,
                 result.processors);
  return out;
}

std::string bench_json(const Result& result) {
  ordered_json out = {{"schema", "topoguard.bench/1"}, {"topoguard", TOPOGUARD_VERSION}};
  out["nccl"] = {{"path", printable(result.nccl_path, 4096)}, {"release", result.nccl_release}};
  out["ends"] = result.two_processes ? "two processes" : "one process";
  out["memory"] = result.request.plan.memory;
  out["connections"] = result.request.plan.connections;
  out["rounds"] = result.request.rounds;
  out["nets"] = ordered_json::array();
  for (const NetSeen& net : result.nets) {
    ordered_json devices = ordered_json::array();
    for (const NetDevice& device : net.devices)
      devices.push_back({{"name", printable(device.name, 60)}, {"speed_mbps", device.speed}});
    out["nets"].push_back({{"source", printable(net.source, 4096)},
                           {"name", printable(net.name, 60)},
                           {"api", net.api},
                           {"devices", devices}});
  }
  if (result.request.compare) out["same_functions"] = result.same_functions;
  out["rows"] = ordered_json::array();
  for (const Row& row : result.rows) {
    ordered_json entry = {{"traffic", traffic_text(row.traffic)}, {"size", row.size}, {"a", as_json(row.a)}};
    if (row.b) {
      entry["b"] = as_json(*row.b);
      entry["time_b_over_a"] = as_json(row.ratio);
      entry["time_a_over_a"] = as_json(row.control);
      entry["within_control"] = row.within_control();
    }
    out["rows"].push_back(entry);
  }
  out["load"] = result.load;
  out["processors"] = result.processors;
  return out.dump(2) + "\n";
}

}  // namespace topoguard::bench
