// SPDX-License-Identifier: Apache-2.0
#include "journal/metrics.h"

#include <fmt/format.h>

#include <algorithm>

#include "document/printable.h"

namespace topoguard::journal {
namespace {

// Backslash, quote and line end are escaped in label values; printable() has made all else valid UTF-8.
std::string escaped(const std::string& value) {
  std::string out;
  for (const char c : printable(value, 120)) {
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

std::string joined(const Labels& labels) {
  std::string out;
  for (const auto& [name, value] : labels)
    out += fmt::format("{}{}=\"{}\"", out.empty() ? "" : ",", name, escaped(value));
  return out;
}

std::string braces(const std::string& constant, const std::string& labels, const std::string& last = {}) {
  std::string out;
  for (const auto* part : {&constant, &labels, &last})
    if (!part->empty()) out += (out.empty() ? "" : ",") + *part;
  return out.empty() ? "" : "{" + out + "}";
}

}  // namespace

void Metrics::add(Metric metric, const Labels& labels, double by) { samples_[metric][joined(labels)] += by; }

void Metrics::set(Metric metric, const Labels& labels, double value) { samples_[metric][joined(labels)] = value; }

void Metrics::observe(Metric metric, const Labels& labels, double value) {
  auto& histogram = histograms_[metric][joined(labels)];
  const auto bounds = connect_buckets();
  for (std::size_t i = 0; i < bounds.size(); ++i)
    if (value <= bounds[i]) ++histogram.buckets[i];
  histogram.sum += value;
  ++histogram.count;
}

void Metrics::forget(Metric metric) {
  samples_.erase(metric);
  histograms_.erase(metric);
}

double Metrics::value(Metric metric, const Labels& labels) const {
  const auto family = samples_.find(metric);
  if (family == samples_.end()) return 0;
  const auto sample = family->second.find(joined(labels));
  return sample == family->second.end() ? 0 : sample->second;
}

std::string Metrics::text() const {
  const std::string constant = joined(constant_);
  std::string out;
  for (const auto& row : metric_rows()) {
    const auto plain = samples_.find(row.metric);
    const auto shaped = histograms_.find(row.metric);
    if (plain == samples_.end() && shaped == histograms_.end()) continue;
    out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", row.name, row.help, row.name, row.type);
    if (plain != samples_.end())
      for (const auto& [labels, value] : plain->second)
        out += fmt::format("{}{} {}\n", row.name, braces(constant, labels), value);
    if (shaped == histograms_.end()) continue;
    const auto bounds = connect_buckets();
    for (const auto& [labels, histogram] : shaped->second) {
      for (std::size_t i = 0; i < bounds.size(); ++i)
        out += fmt::format("{}_bucket{} {}\n", row.name, braces(constant, labels, fmt::format("le=\"{}\"", bounds[i])),
                           histogram.buckets[i]);
      out += fmt::format("{}_bucket{} {}\n", row.name, braces(constant, labels, "le=\"+Inf\""), histogram.count);
      out += fmt::format("{}_sum{} {}\n", row.name, braces(constant, labels), histogram.sum);
      out += fmt::format("{}_count{} {}\n", row.name, braces(constant, labels), histogram.count);
    }
  }
  return out;
}

}  // namespace topoguard::journal
