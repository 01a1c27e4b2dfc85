// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "journal/metrics.h"

namespace topoguard::journal {
namespace {

constexpr std::array kRows = {
    MetricRow{Metric::info, "topoguard_info", "gauge",
              "Always 1; labels tell topoguard's and NCCL's release, the front end, the mode and the transport."},
    MetricRow{Metric::communicators_open, "topoguard_communicators_open", "gauge",
              "Communicators of this process that use the net plugin now."},
    MetricRow{Metric::communicators_total, "topoguard_communicators_total", "counter",
              "Communicators of this process that came to the net plugin."},
    MetricRow{Metric::connections_open, "topoguard_connections_open", "gauge", "Data connections that are open now."},
    MetricRow{Metric::connections_total, "topoguard_connections_total", "counter", "Data connections that came up."},
    MetricRow{Metric::connect_seconds, "topoguard_connect_seconds", "histogram",
              "From the first connect or accept call of a data connection until it was up."},
    MetricRow{Metric::connect_failures_total, "topoguard_connect_failures_total", "counter",
              "Data connections that failed while they were made, by NCCL's result code."},
    MetricRow{Metric::memory_registrations_total, "topoguard_memory_registrations_total", "counter",
              "First registrations of a kind of memory on a connection."},
    MetricRow{Metric::fallback, "topoguard_fallback", "gauge",
              "1 where data goes over TCP although RDMA hardware is there."},
    MetricRow{Metric::findings_total, "topoguard_findings_total", "counter", "Findings of this process, by code."},
    MetricRow{Metric::device_state, "topoguard_device_state", "gauge",
              "Always 1; one sample for each network device, with its verdict and reason."},
    MetricRow{Metric::operations_total, "topoguard_operations_total", "counter",
              "Completed sends and receives, where counters are on."},
    MetricRow{Metric::bytes_total, "topoguard_bytes_total", "counter",
              "Bytes of completed sends and receives, where counters are on."},
    MetricRow{Metric::log_lines_lost_total, "topoguard_log_lines_lost_total", "counter",
              "Lines that could not be written into TOPOGUARD_LOG_FILE."},
};

constexpr std::array<double, kConnectBuckets> kBuckets = {0.001, 0.005, 0.025, 0.1, 0.5, 2, 10, 30, 60};

}  // namespace

std::span<const MetricRow> metric_rows() { return kRows; }
std::span<const double, kConnectBuckets> connect_buckets() { return kBuckets; }

}  // namespace topoguard::journal
