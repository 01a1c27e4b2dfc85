// SPDX-License-Identifier: Apache-2.0
#include "nccl_rules/variables.h"

#include <algorithm>
#include <array>

#include "document/edit_distance.h"

namespace topoguard {
namespace {

/// PyTorch's former names (c10d ProcessGroupNCCL.hpp before 2.2); each is TORCH_ and the same name today.
constexpr std::array<std::string_view, 9> kPyTorch{
    "NCCL_ASYNC_ERROR_HANDLING", "NCCL_BLOCKING_WAIT",        "NCCL_DESYNC_DEBUG",
    "NCCL_ENABLE_TIMING",        "NCCL_HIGH_PRIORITY",        "NCCL_DUMP_ON_TIMEOUT",
    "NCCL_TRACE_BUFFER_SIZE",    "NCCL_USE_COMM_NONBLOCKING", "NCCL_AVOID_RECORD_STREAMS",
};

/// Names that belong to others: build systems and images (NCCL_VERSION in NVIDIA's images), nccl-tests, and plugins
/// (SHARP, UCX and IBext of HPC-X, Google's FasTrak, gIB and TCPX, Microsoft's and Alibaba's).
constexpr std::array<std::string_view, 9> kForeign{
    "NCCL_VERSION", "NCCL_HOME",          "NCCL_ROOT",       "NCCL_ROOT_DIR",          "NCCL_DIR",
    "NCCL_LIBRARY", "NCCL_IBEXT_DISABLE", "NCCL_PLUGIN_P2P", "NCCL_TUNER_CONFIG_PATH",
};
constexpr std::array<std::string_view, 11> kForeignPrefixes{
    "NCCL_TESTS_", "NCCL_SHARP_", "NCCL_UCX_",    "NCCL_FASTRAK_", "NCCL_GPUDIRECTTCPX_", "NCCL_SHIMNET_",
    "NCCL_ACCL_",  "NCCL_LIB",    "NCCL_INCLUDE", "NCCL_GIB_",     "NCCL_PKG_",
};

/// The words of a name, sorted, plural s dropped: NCCL_IFNAME_SOCKET and NCCL_SOCKET_IFNAME have the same ones.
std::vector<std::string_view> words(std::string_view name) {
  std::vector<std::string_view> result;
  while (!name.empty()) {
    const auto end = name.find('_');
    auto word = name.substr(0, end);
    name.remove_prefix(end == std::string_view::npos ? name.size() : end + 1);
    if (word.size() > 3 && word.back() == 'S') word.remove_suffix(1);
    if (!word.empty()) result.push_back(word);
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::string likely_name(std::string_view name, const NcclRelease& release) {
  constexpr std::size_t kLongest = 128;
  if (name.size() > kLongest) return "";
  const std::size_t limit = name.size() < 12 ? 1 : name.size() < 18 ? 2 : 3;
  std::string best;
  std::size_t best_distance = limit + 1;
  for (const auto& variable : nccl_variables()) {
    if (!variable.read_by(release)) continue;
    const std::size_t d = edit_distance(name, variable.name, limit);
    if (d < best_distance) {
      best_distance = d;
      best = std::string(variable.name);
    }
  }
  if (!best.empty()) return best;
  const auto wanted = words(name);
  for (const auto& variable : nccl_variables())
    if (variable.read_by(release) && words(variable.name) == wanted) return std::string(variable.name);
  // A word left out or added in the middle: NCCL_IFNAME, NCCL_SOCKET_NET_IFNAME.
  std::string subset;
  for (const auto& variable : nccl_variables()) {
    if (!variable.read_by(release) || wanted.size() < 2) continue;
    const auto have = words(variable.name);
    const auto& small = have.size() < wanted.size() ? have : wanted;
    const auto& large = have.size() < wanted.size() ? wanted : have;
    if (large.size() - small.size() != 1 || small.size() < 2) continue;
    if (!std::includes(large.begin(), large.end(), small.begin(), small.end())) continue;
    if (!subset.empty()) return "";  // several would do: no guess
    subset = std::string(variable.name);
  }
  return subset;
}

}  // namespace

const NcclVariable* nccl_variable(std::string_view name) {
  const auto& table = nccl_variables();
  const auto at = std::lower_bound(table.begin(), table.end(), name,
                                   [](const NcclVariable& row, std::string_view wanted) { return row.name < wanted; });
  return at != table.end() && at->name == name ? &*at : nullptr;
}

NameVerdict judge_name(std::string_view name, const NcclRelease& release) {
  if (const auto* variable = nccl_variable(name)) {
    if (variable->read_by(release)) return {NameStatus::read, "", variable};
    return {release < variable->since ? NameStatus::newer : NameStatus::retired, "", variable};
  }
  if (std::find(kPyTorch.begin(), kPyTorch.end(), name) != kPyTorch.end())
    return {NameStatus::pytorch, "TORCH_" + std::string(name), nullptr};
  if (std::find(kForeign.begin(), kForeign.end(), name) != kForeign.end()) return {NameStatus::foreign, "", nullptr};
  for (const auto prefix : kForeignPrefixes)
    if (name.substr(0, prefix.size()) == prefix) return {NameStatus::foreign, "", nullptr};
  if (auto likely = likely_name(name, release); !likely.empty())
    return {NameStatus::misspelt, std::move(likely), nullptr};
  // A release without public source may read what this table does not have (2.31 and 2.32 have some forty more).
  if (release > kNewestNccl) return {NameStatus::foreign, "", nullptr};
  return {};
}

}  // namespace topoguard
