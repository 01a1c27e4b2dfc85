// SPDX-License-Identifier: Apache-2.0
#include "bench/measure.h"

#include <algorithm>
#include <array>

namespace topoguard::bench {
namespace {

constexpr std::uint64_t kMostMessages = 20000;  // of a sample: enough for a rate

Plan plan_for(const Request& request, Traffic traffic, std::size_t size) {
  Plan plan = request.plan;
  plan.traffic = traffic;
  plan.size = size;
  const std::uint64_t fits = std::max<std::uint64_t>(request.bytes / size, 1);
  if (traffic == Traffic::ping_pong) {
    plan.connections = 1;
    plan.messages = std::clamp<std::uint64_t>(fits, 4, request.round_trips);
  } else {
    plan.messages = std::clamp<std::uint64_t>(fits, 2 * static_cast<std::uint64_t>(plan.connections), kMostMessages);
  }
  return plan;
}

// What two samples are compared by: the time that the same work took.
double time_of(const Sample& sample) {
  return sample.round_trips.empty() ? sample.seconds : median(sample.round_trips) * 1e-6;
}

Measure summary(const std::vector<Sample>& samples) {
  Measure out;
  std::vector<double> latency, all, bandwidth, rate, cpu, connect;
  for (const Sample& sample : samples) {
    connect.push_back(sample.connect * 1e3);
    if (!sample.round_trips.empty()) latency.push_back(median(sample.round_trips));
    all.insert(all.end(), sample.round_trips.begin(), sample.round_trips.end());
    bandwidth.push_back(static_cast<double>(sample.bytes) / sample.seconds);
    rate.push_back(static_cast<double>(sample.messages) / sample.seconds);
    cpu.push_back(sample.cpu * 1e9 / static_cast<double>(sample.bytes));
  }
  out.latency = spread_of(latency);
  if (!all.empty())
    for (const double share : {0.5, 0.9, 0.99, 0.999, 1.0}) out.round_trips.push_back(percentile(all, share));
  out.bandwidth = spread_of(bandwidth);
  out.rate = median(rate);
  out.cpu_per_byte = median(cpu);
  out.connect = median(connect);
  return out;
}

Row one(Runner& runner, const Plan& plan, int rounds) {
  std::vector<Sample> samples;
  for (int round = 0; round < rounds; ++round) samples.push_back(runner.run(0, plan));
  Row row;
  row.traffic = plan.traffic;
  row.size = plan.size;
  row.a = summary(samples);
  return row;
}

Row two(Runner& runner, const Plan& plan, int rounds) {
  constexpr std::array<std::size_t, 3> nets = {0, 1, 0};  // A, B, A again
  std::array<std::vector<Sample>, 3> samples;
  std::vector<double> ratio, control;
  for (int round = 0; round < rounds; ++round) {
    // None of the three always follows the same other, nor always comes first.
    for (std::size_t step = 0; step < nets.size(); ++step) {
      const std::size_t turn = static_cast<std::size_t>(round) + (round / 3 % 2 == 0 ? step : nets.size() - 1 - step);
      samples[turn % nets.size()].push_back(runner.run(nets[turn % nets.size()], plan));
    }
    const double a = time_of(samples[0].back());
    ratio.push_back(time_of(samples[1].back()) / a);
    control.push_back(time_of(samples[2].back()) / a);
  }
  Row row;
  row.traffic = plan.traffic;
  row.size = plan.size;
  row.a = summary(samples[0]);
  row.b = summary(samples[1]);
  row.ratio = spread_of(ratio);
  row.control = spread_of(control);
  return row;
}

}  // namespace

std::vector<Row> measure(Runner& runner, const Request& request,
                         const std::function<void(const std::string&)>& progress) {
  std::vector<Row> rows;
  for (const Traffic traffic : {Traffic::ping_pong, Traffic::stream}) {
    if (traffic == Traffic::ping_pong ? !request.ping_pong : !request.stream) continue;
    for (const std::size_t size : request.sizes) {
      progress((traffic == Traffic::ping_pong ? "ping-pong of " : "stream of ") + size_text(size));
      const Plan plan = plan_for(request, traffic, size);
      rows.push_back(request.compare ? two(runner, plan, request.rounds) : one(runner, plan, request.rounds));
    }
  }
  return rows;
}

std::string size_text(std::size_t size) {
  constexpr std::array<const char*, 4> units = {" B", " KiB", " MiB", " GiB"};
  std::size_t unit = 0;
  while (unit + 1 < units.size() && size >= 1024 && size % 1024 == 0) {
    size /= 1024;
    ++unit;
  }
  return std::to_string(size) + units[unit];
}

std::optional<std::size_t> parse_size(const std::string& text) {
  const auto end = text.find_first_not_of("0123456789");
  if (end == 0 || text.empty() || std::min(end, text.size()) > 10) return std::nullopt;
  std::size_t size = std::stoull(text.substr(0, end));
  if (end != std::string::npos) {
    const auto unit = std::string_view("KMG").find(text[end]);
    if (unit == std::string_view::npos || end + 1 != text.size()) return std::nullopt;
    size <<= 10 * (unit + 1);
  }
  if (size < 1 || size > kMostBytes) return std::nullopt;
  return size;
}

}  // namespace topoguard::bench
