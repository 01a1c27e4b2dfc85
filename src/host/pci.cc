// SPDX-License-Identifier: Apache-2.0
#include "host/pci.h"

#include <algorithm>
#include <cerrno>
#include <map>

#include "host/file.h"
#include "host/link_device.h"
#include "host/notes.h"

namespace topoguard::host {
namespace {

std::string device_path(const Sources& sources, const std::string& id) {
  return sources.sys_path("/bus/pci/devices/" + id);
}

// "16.0 GT/s PCIe", "8 GT/s", "Unknown".
std::optional<double> gts(const std::string& path) {
  const auto word = read_word(path);
  if (!word) return std::nullopt;
  const auto end = word->find(" GT/s");
  if (end == std::string::npos) return std::nullopt;
  const auto point = word->find('.');
  const auto whole = parse_number(std::string_view(*word).substr(0, std::min(end, point)));
  if (!whole || *whole <= 0) return std::nullopt;
  const bool half = point < end && (*word)[point + 1] == '5';  // 2.5 is the only one that is not whole
  return static_cast<double>(*whole) + (half ? 0.5 : 0);
}

std::optional<int> width(const std::string& path) {
  const auto number = read_number(path);
  if (!number || *number <= 0 || *number > 64) return std::nullopt;  // 0 and 255 (0xff): not told
  return static_cast<int>(*number);
}

PciDevice read_device(const Sources& sources, const std::string& id, const std::optional<std::string>& parent,
                      bool may_read_config) {
  const std::string at = device_path(sources, id);
  PciDevice device;
  device.id = id;
  device.parent = parent;
  device.device_class = read_word(at + "/class");
  if (const auto node = read_number(at + "/numa_node"); node && *node >= 0 && *node < 1 << 20)
    device.numa_node = static_cast<int>(*node);
  if (const FileText cpus = read_file(at + "/local_cpulist", 1 << 16))
    device.local_cpus = CpuSet::parse(trim(cpus.text));
  if (!exists(at + "/physfn")) {  // a virtual function has no link of its own
    device.link_gts = gts(at + "/current_link_speed");
    device.link_width = width(at + "/current_link_width");
    device.max_link_gts = gts(at + "/max_link_speed");
    device.max_link_width = width(at + "/max_link_width");
  }
  if (may_read_config && device.device_class && device.device_class->substr(0, 6) == "0x0604")
    device.acs_redirect = acs_redirect(read_file(at + "/config", 4096).text);
  return device;
}

// The ids on the way from the root complex to the device, itself last, as its path in /sys/devices spells them.
std::vector<std::string> ancestry(const Sources& sources, const std::string& id) {
  std::vector<std::string> ids;
  const auto target = link_target(device_path(sources, id));
  if (!target) return {id};
  std::size_t start = 0;
  while (start <= target->size()) {
    const auto end = std::min(target->find('/', start), target->size());
    if (const std::string part = target->substr(start, end - start); is_pci_id(part)) ids.push_back(part);
    start = end + 1;
  }
  if (ids.empty() || ids.back() != id) return {id};
  return ids;
}

}  // namespace

void read_pci(const Sources& sources, bool may_read_config, HostSnapshot& out) {
  const std::string at = sources.sys_path("/bus/pci/devices");
  const Listing listing = list_directory(at);
  if (!listing) {
    // sysfs without a PCI bus is a machine without PCI; no sysfs is a machine that we cannot see.
    if (listing.error == ENOENT && exists(sources.sys_path("/bus"))) {
      out.pci.emplace();
      out.gpus.emplace();
    } else {
      note(out, "pci",
           at + " could not be listed (" + error_text(listing.error) + "); GPUs and PCI places are unknown");
    }
    return;
  }
  std::vector<Gpu> gpus = find_gpus(sources, listing.names);
  std::map<std::string, std::optional<std::string>> wanted;  // id -> parent
  const auto want = [&](const std::optional<std::string>& id) {
    if (!id || !is_pci_id(*id) || wanted.count(*id)) return;
    std::optional<std::string> parent;
    for (const std::string& step : ancestry(sources, *id)) {
      wanted.emplace(step, parent);
      parent = step;
    }
  };
  for (const Gpu& gpu : gpus) want(gpu.pci);
  for (const RdmaDevice& device : known(out.rdma)) want(device.pci);
  for (const Link& link : known(out.links)) want(link.parentdev);
  std::vector<PciDevice> devices;
  for (const auto& [id, parent] : wanted) {
    if (exists(device_path(sources, id))) devices.push_back(read_device(sources, id, parent, may_read_config));
  }
  out.gpus = std::move(gpus);
  out.pci = std::move(devices);
}

std::vector<Gpu> find_gpus(const Sources& sources, const std::vector<std::string>& ids) {
  std::vector<Gpu> gpus;
  const std::string root = real_path(sources.sys_path("/devices")).value_or(sources.sys_path("/devices"));
  std::vector<std::string> sorted;
  for (const std::string& id : ids)
    if (is_pci_id(id)) sorted.push_back(id);
  std::sort(sorted.begin(), sorted.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;  // hexadecimal: by text, a longer domain last
  });
  for (const std::string& id : sorted) {
    const std::string at = device_path(sources, id);
    const auto device_class = read_word(at + "/class");
    if (!device_class || (device_class->substr(0, 6) != "0x0300" && device_class->substr(0, 6) != "0x0302")) continue;
    if (read_word(at + "/vendor") != "0x10de") continue;
    Gpu gpu;
    gpu.index = static_cast<int>(gpus.size());
    gpu.pci = id;
    if (const auto directory = real_path(at)) gpu.numa_node = numa_node_above(*directory, root);
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

std::optional<bool> acs_redirect(const std::string& config) {
  const auto word = [&](std::size_t at, int bytes) {
    std::uint32_t value = 0;
    for (int i = bytes - 1; i >= 0; --i)
      value = value << 8 | static_cast<std::uint8_t>(config[at + static_cast<std::size_t>(i)]);
    return value;
  };
  // Without the privilege the kernel hands out 64 bytes; a conventional device has 256.
  if (config.size() < 4096) return std::nullopt;
  std::size_t at = 0x100;
  for (int steps = 0; steps < 64 && at >= 0x100 && at + 8 <= config.size(); ++steps) {
    const std::uint32_t header = word(at, 4);
    if (header == 0 || header == 0xffffffff) return false;
    if ((header & 0xffff) == 0x000d) return (word(at + 6, 2) & 0x000c) != 0;
    at = header >> 20;
  }
  return false;
}

}  // namespace topoguard::host
