// SPDX-License-Identifier: Apache-2.0
#include "host/file.h"
#include "host/system.h"

namespace topoguard::host {
namespace {

bool has(const std::optional<std::string>& text, std::string_view part) {
  return text && text->find(part) != std::string::npos;
}

// nullopt where /proc/cpuinfo does not list flags (aarch64, or no /proc). The first processor says it all, and reading
// on would cost a millisecond per hundred processors.
std::optional<bool> hypervisor_flag(const Sources& sources) {
  const FileText cpu = read_file(sources.proc_path("/cpuinfo"), 8000);
  const auto flags = cpu.text.find("\nflags");
  if (flags == std::string::npos) return std::nullopt;
  const auto line = cpu.text.substr(flags + 1, cpu.text.find('\n', flags + 1) - flags - 1) + " ";
  return line.find(" hypervisor ") != std::string::npos;
}

}  // namespace

std::optional<std::string> virtualization(const Sources& sources) {
  const auto vendor = read_word(sources.sys_path("/class/dmi/id/sys_vendor"));
  const auto product = read_word(sources.sys_path("/class/dmi/id/product_name"));
  const auto hypervisor = read_word(sources.sys_path("/hypervisor/type"));
  const auto flag = hypervisor_flag(sources);
  if (flag == false && !has(hypervisor, "xen")) return "none";  // cloud vendors also sell whole machines
  if (has(vendor, "Amazon EC2")) return has(product, ".metal") ? "none" : "aws";
  if (has(vendor, "Google")) return "gcp";
  if (has(vendor, "Microsoft Corporation") && has(product, "Virtual Machine")) return "hyperv";
  if (has(vendor, "Alibaba Cloud")) return "alibaba";
  if (has(vendor, "VMware")) return "vmware";
  if (has(vendor, "Xen") || has(hypervisor, "xen")) return "xen";
  if (has(vendor, "QEMU") || has(product, "KVM")) return "kvm";
  if (flag == true) return "other";
  if (!vendor && !product) return std::nullopt;
  return "none";
}

}  // namespace topoguard::host
