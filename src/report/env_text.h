// SPDX-License-Identifier: Apache-2.0
// The variables of a decision in the forms in which launchers take them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace topoguard {

enum class EnvFormat : std::uint8_t {
  shell,       ///< `export NAME='VALUE'` lines, for eval
  docker,      ///< NAME=VALUE lines for `docker run --env-file`, which takes the value as it stands
  kubernetes,  ///< a container's `env:` list, YAML
  slurm,       ///< lines for a batch script: srun's --export splits at commas, so the environment carries the values
  nccl_conf,   ///< NAME=VALUE lines for /etc/nccl.conf or ~/.nccl.conf; no comments, which releases before 2.26 do not
               ///< skip
  json,        ///< one object
};

/// "shell", "docker", "kubernetes", "slurm", "nccl-conf"; nullopt else.
std::optional<EnvFormat> env_format(std::string_view name);

/// Where there is nothing to set: a comment, an empty list or object, for nccl_conf nothing.
std::string env_text(const std::map<std::string, std::string>& variables, EnvFormat format);

}  // namespace topoguard
