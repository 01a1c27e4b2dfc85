// SPDX-License-Identifier: Apache-2.0
// The NCCL_* variables that each NCCL release reads, from its sources' tags 2.3.5 to 2.30.7; and those that other
// programs read, which NCCL has never known.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nccl_rules/release.h"

namespace topoguard {

struct NcclVariable {
  std::string_view name;
  NcclRelease since;      ///< first tag that reads it
  NcclRelease until;      ///< last tag that reads it; kNewestNccl where it is still read
  bool number;            ///< an NCCL_PARAM: read by strtoll
  std::string_view file;  ///< where in the last of these tags, below src/

  /// Releases newer than our newest are taken to read what that one reads.
  bool read_by(const NcclRelease& release) const {
    return since <= release && (release <= until || until == kNewestNccl);
  }
};

const std::vector<NcclVariable>& nccl_variables();  ///< sorted by name
const NcclVariable* nccl_variable(std::string_view name);

enum class NameStatus : unsigned char {
  read,      ///< this release reads it
  newer,     ///< a newer release does
  retired,   ///< an older release did
  pytorch,   ///< PyTorch's own, TORCH_NCCL_* today
  foreign,   ///< another program's or plugin's, a container image's: nothing to say about it
  misspelt,  ///< close to a name that this release reads
  unknown,
};

struct NameVerdict {
  NameStatus status = NameStatus::unknown;
  std::string likely;                      ///< misspelt: the name meant; pytorch: today's name
  const NcclVariable* variable = nullptr;  ///< newer, retired, read
};

NameVerdict judge_name(std::string_view name, const NcclRelease& release);

}  // namespace topoguard
