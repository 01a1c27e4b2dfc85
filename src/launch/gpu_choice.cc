// SPDX-License-Identifier: Apache-2.0
#include "launch/gpu_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "affinity/cuda_device.h"

namespace topoguard {
namespace {

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_uuid(std::string_view text) { return text.substr(0, 4) == "GPU-" || text.substr(0, 4) == "MIG-"; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

ChosenGpu by_uuid(std::string_view uuid, const std::vector<GpuUuid>& uuids) {
  // "MIG-GPU-<uuid>/<instance>/<compute instance>", the form before driver 470: the GPU's own UUID is in it.
  if (uuid.substr(0, 8) == "MIG-GPU-")
    uuid = uuid.substr(4, uuid.find('/') == std::string_view::npos ? uuid.size() : uuid.find('/') - 4);
  const GpuUuid* found = nullptr;
  for (const GpuUuid& known : uuids) {
    if (known.uuid.compare(0, uuid.size(), uuid) != 0) continue;
    if (found != nullptr && found->pci != known.pci) return {std::nullopt, fmt::format("{} fits several GPUs", uuid)};
    found = &known;
  }
  if (found == nullptr) return {std::nullopt, fmt::format("no GPU here has the UUID {}", uuid)};
  return {found->pci, std::string(uuid)};
}

// CUDA's own order is fastest first unless CUDA_DEVICE_ORDER says PCI_BUS_ID; equal GPUs stay in PCI order.
bool counts_in_pci_order(const EnvLookup& env, const HostSnapshot& host) {
  if (env("CUDA_DEVICE_ORDER") == "PCI_BUS_ID") return true;
  const auto& gpus = known(host.gpus);
  return std::all_of(gpus.begin(), gpus.end(), [&](const Gpu& gpu) { return gpu.name == gpus.front().name; });
}

ChosenGpu by_index(int index, const EnvLookup& env, const HostSnapshot& host) {
  if (!counts_in_pci_order(env, host))
    return {std::nullopt, "GPUs of several kinds, and CUDA_DEVICE_ORDER is not PCI_BUS_ID: CUDA counts them by speed"};
  for (const Gpu& gpu : known(host.gpus))
    if (gpu.index == index && gpu.pci) return {sysfs_pci_id(*gpu.pci), fmt::format("GPU {}", index)};
  return {std::nullopt, fmt::format("this host has no GPU {}", index)};
}

ChosenGpu by_entry(std::string_view entry, const EnvLookup& env, const HostSnapshot& host,
                   const std::vector<GpuUuid>& uuids) {
  if (is_uuid(entry)) return by_uuid(entry, uuids);
  if (const auto index = number(entry); index && *index >= 0) return by_index(*index, env, host);
  return {std::nullopt, fmt::format("'{}' names no GPU", entry)};
}

// The position within CUDA_VISIBLE_DEVICES, as CUDA numbers devices for the process.
ChosenGpu visible(int position, const EnvLookup& env, const HostSnapshot& host, const std::vector<GpuUuid>& uuids) {
  const auto list = env("CUDA_VISIBLE_DEVICES");
  if (!list) return by_index(position, env, host);
  std::string_view rest = *list;
  for (int at = 0; !rest.empty(); ++at) {
    const auto comma = std::min(rest.find(','), rest.size());
    const std::string_view entry = trimmed(rest.substr(0, comma));
    const ChosenGpu gpu = by_entry(entry, env, host, uuids);
    if (at == position || !gpu.pci) return gpu;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return {std::nullopt, fmt::format("CUDA_VISIBLE_DEVICES={} has no entry {}", *list, position)};
}

bool only_one_visible(const EnvLookup& env) {
  const auto list = env("CUDA_VISIBLE_DEVICES");
  return list && !list->empty() && list->find(',') == std::string::npos;
}

}  // namespace

ChosenGpu choose_gpu(const std::string& wanted, const EnvLookup& env, const HostSnapshot& host,
                     const std::vector<GpuUuid>& uuids) {
  if (!wanted.empty() && wanted != "auto") {
    if (is_uuid(wanted)) return by_uuid(wanted, uuids);
    if (const auto pci = sysfs_pci_id(wanted)) return {pci, "--gpu " + wanted};
    const auto position = number(wanted);
    if (!position || *position < 0) return {std::nullopt, fmt::format("--gpu {} is no number, UUID or PCI id", wanted)};
    return visible(*position, env, host, uuids);
  }
  // A launcher that gives each rank its one GPU, or a host that has one: no rank number is needed.
  if (only_one_visible(env)) {
    ChosenGpu gpu = visible(0, env, host, uuids);
    if (gpu.pci) gpu.why = "the only one in CUDA_VISIBLE_DEVICES";
    return gpu;
  }
  const auto rank = local_rank(env);
  if (!rank && known(host.gpus).size() == 1 && !env("CUDA_VISIBLE_DEVICES")) {
    ChosenGpu gpu = by_index(known(host.gpus).front().index, env, host);
    if (gpu.pci) gpu.why = "the only GPU of this host";
    return gpu;
  }
  if (!rank)
    return {std::nullopt, "no launcher says which rank this is (LOCAL_RANK, SLURM_LOCALID, ...); --gpu N names it"};
  ChosenGpu gpu = visible(rank->rank, env, host, uuids);
  if (gpu.pci) gpu.why = fmt::format("{}={}", rank->variable, rank->rank);
  return gpu;
}

bool needs_uuids(const std::string& wanted, const EnvLookup& env) {
  const auto list = env("CUDA_VISIBLE_DEVICES");
  return is_uuid(wanted) ||
         (list && (list->find("GPU-") != std::string::npos || list->find("MIG-") != std::string::npos));
}

}  // namespace topoguard
