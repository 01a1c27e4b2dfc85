// SPDX-License-Identifier: Apache-2.0
#include "affinity/ranks.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace topoguard {
namespace {

// The launcher nearest to the process first: torchrun inside srun sets both, and only its own numbers are this
// process's.
constexpr std::array kRankVariables = {"LOCAL_RANK",        "OMPI_COMM_WORLD_LOCAL_RANK",
                                       "MPI_LOCALRANKID",   "MV2_COMM_WORLD_LOCAL_RANK",
                                       "PALS_LOCAL_RANKID", "SLURM_LOCALID"};
constexpr std::array kSizeVariables = {"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                       "MV2_COMM_WORLD_LOCAL_SIZE", "PALS_LOCAL_SIZE"};

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

// "2(x3),1": two tasks on each of three nodes, one on the fourth; SLURM_NODEID counts along.
std::optional<int> slurm_tasks_here(const EnvLookup& env) {
  const auto list = env("SLURM_STEP_TASKS_PER_NODE");
  const auto node_text = env("SLURM_NODEID");
  if (!list) return std::nullopt;
  const auto node = node_text ? number(*node_text) : std::nullopt;
  std::string_view rest = *list;
  int first_node = 0;
  while (!rest.empty()) {
    std::string_view entry = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    int repeat = 1;
    if (const auto paren = entry.find("(x"); paren != std::string_view::npos && entry.back() == ')') {
      const auto count = number(entry.substr(paren + 2, entry.size() - paren - 3));
      if (!count) return std::nullopt;
      repeat = *count;
      entry = entry.substr(0, paren);
    }
    const auto tasks = number(entry);
    if (!tasks) return std::nullopt;
    if (!node)
      return rest.empty() && first_node == 0 ? tasks : std::nullopt;  // equal everywhere: no node number needed
    if (*node - first_node < repeat) return tasks;
    first_node += repeat;
  }
  return std::nullopt;
}

}  // namespace

std::optional<LocalRank> local_rank(const EnvLookup& env) {
  for (const char* name : kRankVariables)
    if (const auto value = env(name))
      if (const auto rank = number(*value)) return LocalRank{*rank, name};
  return std::nullopt;
}

std::optional<int> local_ranks(const EnvLookup& env) {
  for (const char* name : kSizeVariables)
    if (const auto value = env(name))
      if (const auto size = number(*value); size && *size > 0) return size;
  if (const auto tasks = slurm_tasks_here(env)) return tasks;
  if (const auto world = env("WORLD_SIZE"); world && number(*world) == 1) return 1;
  if (const auto rank = local_rank(env)) return std::max(2, rank->rank + 1);
  return std::nullopt;
}

}  // namespace topoguard
