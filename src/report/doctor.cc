// SPDX-License-Identifier: Apache-2.0
#include "report/doctor.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "document/layout.h"
#include "document/printable.h"
#include "nccl_rules/release.h"
#include "report/phrases.h"

namespace topoguard {
namespace {

constexpr std::size_t kLabel = 13;
constexpr std::size_t kSameFrom = 4;  // this many devices that are not chosen for one reason share lines

void add_fact(std::string& out, std::string_view label, std::string_view text, const TextStyle& style) {
  out += painted(padded(label, kLabel), Paint::strong, style.colour) + wrapped(text, kLabel, kLabel);
}

void add_title(std::string& out, std::string_view title, const TextStyle& style) {
  out += "\n" + painted(title, Paint::strong, style.colour) + "\n";
}

std::string heading(const HostSnapshot& host) {
  std::string out = host.system.hostname ? *host.system.hostname : "this host";
  if (host.system.kernel) out += ", kernel " + *host.system.kernel;
  if (host.system.container && *host.system.container != "none")
    out += ", in a container (" + *host.system.container + ")";
  if (host.system.virtualization && *host.system.virtualization != "none")
    out += ", virtual machine (" + *host.system.virtualization + ")";
  return out;
}

std::string release_phrase(const HostSnapshot& host) {
  const std::string rules = ": the rules of " + kNewestNccl.text() + ", the newest known, are used";
  if (!host.nccl_version) return "release unknown" + rules;
  return NcclRelease::parse(*host.nccl_version) ? *host.nccl_version
                                                : "\"" + *host.nccl_version + "\" is no release" + rules;
}

struct Row {
  const DeviceVerdict* device;
  std::string names;
};

// The chosen first; many others of one kind, verdict and reason make one row.
std::vector<Row> device_rows(const std::vector<DeviceVerdict>& devices, bool all) {
  std::vector<const DeviceVerdict*> order;
  for (const DeviceVerdict& device : devices) order.push_back(&device);
  std::stable_sort(order.begin(), order.end(),
                   [](auto* a, auto* b) { return std::tie(a->verdict, b->kind) < std::tie(b->verdict, a->kind); });
  std::map<std::tuple<Verdict, DeviceKind, std::string>, std::vector<const DeviceVerdict*>> same;
  for (const DeviceVerdict* device : order) same[{device->verdict, device->kind, device->reason}].push_back(device);
  std::vector<Row> rows;
  for (const DeviceVerdict* device : order) {
    const auto found = same.find({device->verdict, device->kind, device->reason});
    const bool group = !all && device->verdict != Verdict::chosen && found->second.size() >= kSameFrom;
    if (!group) {
      rows.push_back({device, {}});
    } else if (found->second.front() == device) {
      Row row{device, {}};
      for (const DeviceVerdict* member : found->second) row.names += (row.names.empty() ? "" : ", ") + member->name;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

void add_devices(std::string& out, const Decision& decision, const TextStyle& style) {
  add_title(out, "Devices", style);
  if (decision.devices.empty()) out += "  none were seen\n";
  std::size_t name_width = 6, reason_width = 8;
  const std::vector<Row> rows = device_rows(decision.devices, style.verbose);
  for (const Row& row : rows) {
    name_width = std::max(name_width, row.names.empty() ? columns(printable(row.device->name)) : 11);
    reason_width = std::max(reason_width, columns(row.device->reason));
  }
  name_width = std::min<std::size_t>(name_width, 24);
  reason_width = std::min<std::size_t>(reason_width, 28);
  const std::size_t indent = 2 + 8 + name_width + 2 + 10 + reason_width + 2;
  for (const Row& row : rows) {
    const DeviceVerdict& device = *row.device;
    const bool many = !row.names.empty();
    const std::string name =
        many ? std::to_string(1 + std::count(row.names.begin(), row.names.end(), ',')) + " devices" : device.name;
    out += "  " + padded(device_kind_name(device.kind), 8) + padded(name, name_width) + "  " +
           painted(padded(verdict_name(device.verdict), 10), paint_of(device.verdict), style.colour);
    const std::string& tail = many ? row.names : device.detail;
    out += tail.empty() ? printable(device.reason) + "\n"
                        : padded(device.reason, reason_width) + "  " + wrapped(tail, indent, indent);
  }
}

void add_gpus(std::string& out, const HostSnapshot& host, const Decision& decision, const TextStyle& style) {
  if (decision.gpus.empty()) return;
  add_title(out, "GPUs", style);
  out += "  GPU  PCI           NUMA  path  nearest HCAs              CPUs to bind to\n";
  for (const GpuChoice& gpu : decision.gpus) {
    std::string pci, nearest;
    for (const Gpu& known_gpu : known(host.gpus))
      if (known_gpu.index == gpu.gpu && known_gpu.pci) pci = *known_gpu.pci;
    for (const std::string& name : gpu.nearest) nearest += (nearest.empty() ? "" : ", ") + name;
    const std::string cpus = gpu.cpus.empty() ? "left alone" : gpu.cpus.text();
    // Eight names fit no column: then the CPUs go to a line of their own.
    const bool wide = columns(nearest) > 24;
    out += "  " + padded(std::to_string(gpu.gpu), 5) + padded(pci.empty() ? "-" : pci, 14) +
           padded(gpu.numa_node ? std::to_string(*gpu.numa_node) : "?", 6) +
           padded(gpu.path ? path_class_name(*gpu.path) : "-", 6);
    if (wide)
      out += wrapped(nearest, 33, 33) + std::string(59, ' ') + wrapped(cpus, 59, 59);
    else
      out += padded(nearest.empty() ? "-" : nearest, 24) + "  " + wrapped(cpus, 59, 59);
  }
}

std::string sets_phrase(const HostSnapshot& host, const Policy& policy, const Decision& decision) {
  if (decision.env.empty()) return sets_nothing_phrase(host, decision);
  const std::string out = variables_phrase(decision.env);
  if (policy.mode == Mode::enforce) return out;
  return std::string("nothing, in mode ") + (policy.mode == Mode::off ? "off" : "observe") + "; in mode enforce " + out;
}

}  // namespace

std::string findings_text(const std::vector<Finding>& findings, const TextStyle& style) {
  if (findings.empty()) return "  No findings.\n";
  std::string out;
  for (const Severity severity : {Severity::error, Severity::warning, Severity::info}) {
    const Paint paint = severity == Severity::error     ? Paint::bad
                        : severity == Severity::warning ? Paint::warn
                                                        : Paint::note;
    for (const Finding& finding : findings) {
      if (finding.severity != severity) continue;
      const std::string title = finding.code + (finding.device.empty() ? "" : " on " + finding.device);
      out += "  " + painted(padded(severity_name(severity), 9), paint, style.colour) + wrapped(title, 11, 11);
      out += std::string(11, ' ') + wrapped(finding.message, 11, 11);
      if (!finding.remedy.empty()) out += std::string(11, ' ') + wrapped("-> " + finding.remedy, 11, 14);
    }
  }
  return out;
}

std::string doctor_text(const HostSnapshot& host, const Policy& policy, const Decision& decision,
                        const TextStyle& style) {
  std::string out;
  add_fact(out, "Host", heading(host), style);
  add_fact(out, "NCCL", release_phrase(host), style);
  add_fact(out, "Mode", mode_phrase(policy), style);
  add_fact(out, "Transport", transport_phrase(decision, 2000), style);
  add_fact(out, "NCCL alone", nccl_alone_phrase(host), style);
  add_fact(out, "Sets", sets_phrase(host, policy, decision), style);
  add_devices(out, decision, style);
  add_gpus(out, host, decision, style);
  add_title(out, "Findings", style);
  out += findings_text(decision.findings, style);
  if (style.verbose && !host.notes.empty()) {
    add_title(out, "Not read", style);
    for (const std::string& note : host.notes) out += "  " + wrapped(note, 2, 4);
  }
  return out;
}

}  // namespace topoguard
