// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "topoguard/decision.h"

namespace topoguard {
namespace {

constexpr std::array<std::string_view, 5> path_names{"PIX", "PXB", "PHB", "NODE", "SYS"};

}  // namespace

std::string_view path_class_name(PathClass path) { return path_names[static_cast<std::size_t>(path)]; }

std::optional<PathClass> parse_path_class(std::string_view text) {
  for (std::size_t i = 0; i < path_names.size(); ++i)
    if (path_names[i] == text) return static_cast<PathClass>(i);
  return std::nullopt;
}

std::string_view transport_name(Transport transport) {
  switch (transport) {
    case Transport::socket:
      return "Socket";
    case Transport::ib:
      return "IB";
    case Transport::none:
      break;
  }
  return "none";
}

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::chosen:
      return "chosen";
    case Verdict::eligible:
      return "eligible";
    case Verdict::rejected:
      break;
  }
  return "rejected";
}

std::string_view device_kind_name(DeviceKind kind) { return kind == DeviceKind::hca ? "hca" : "netdev"; }

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::info:
      break;
  }
  return "info";
}

}  // namespace topoguard
