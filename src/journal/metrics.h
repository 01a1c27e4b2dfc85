// SPDX-License-Identifier: Apache-2.0
// Counters of one process in Prometheus' text form (exposition format 0.0.4), as node_exporter's textfile collector
// reads it. Names and label names are stable; the table in metrics_table.cc is all of them.
//
// Not thread-safe: the owner locks. Nothing throws but std::bad_alloc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace topoguard::journal {

enum class Metric : std::uint8_t {
  info,
  communicators_open,
  communicators_total,
  connections_open,
  connections_total,
  connect_seconds,
  connect_failures_total,
  memory_registrations_total,
  fallback,
  findings_total,
  device_state,
  operations_total,
  bytes_total,
  log_lines_lost_total,
};

struct MetricRow {
  Metric metric;
  std::string_view name;
  std::string_view type;  ///< gauge, counter, histogram
  std::string_view help;
};
std::span<const MetricRow> metric_rows();

/// Upper bounds of connect_seconds, in seconds; +Inf follows.
constexpr std::size_t kConnectBuckets = 9;
std::span<const double, kConnectBuckets> connect_buckets();

using Labels = std::vector<std::pair<std::string_view, std::string>>;

class Metrics {
 public:
  /// Labels that every sample gets first: without them the files of two processes would name the same series.
  explicit Metrics(Labels constant = {}) : constant_(std::move(constant)) {}

  void add(Metric metric, const Labels& labels, double by = 1);
  void set(Metric metric, const Labels& labels, double value);
  void observe(Metric metric, const Labels& labels, double value);  ///< histograms
  void forget(Metric metric);                                       ///< before a gauge's samples are set anew
  double value(Metric metric, const Labels& labels) const;          ///< 0 where there is no such sample

  std::string text() const;

 private:
  struct Histogram {
    std::array<std::uint64_t, kConnectBuckets> buckets{};  // whole from the first: memory for it may be refused later
    double sum = 0;
    std::uint64_t count = 0;
  };

  Labels constant_;
  std::map<Metric, std::map<std::string, double>> samples_;
  std::map<Metric, std::map<std::string, Histogram>> histograms_;
};

}  // namespace topoguard::journal
