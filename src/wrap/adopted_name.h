// SPDX-License-Identifier: Apache-2.0
// The name that our tables bear. NCCL compares NCCL_NET with a table's name before it calls init() (2.28 and later),
// and leaves out every other network. NCCL_NET="AWS Libfabric" is meant for the plugin that topoguard stands in for, so
// our tables answer to it, and init() declines where that plugin is not there: NCCL then ends as it would have ended.
#pragma once

namespace topoguard {

/// Statically valid: NCCL prints it in "via NET/topoguard/...".
inline constexpr const char* kOwnName = "topoguard";

/// Somebody else's name where NCCL_NET has one, else kOwnName. The text lives as long as the process. For the plugin
/// library's constructor: it reads one variable. Never throws.
const char* name_for_nccl() noexcept;

}  // namespace topoguard
