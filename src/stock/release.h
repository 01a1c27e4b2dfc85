// SPDX-License-Identifier: Apache-2.0
// NCCL releases: version codes and the net API that each release's own transports are written in.
#pragma once

#include <optional>
#include <string>

namespace topoguard {

inline constexpr int kOldestApi = 6;
inline constexpr int kNewestApi = 12;

/// 22809 -> "2.28.9". The code is major*10000 + minor*100 + patch since 2.9 (ncclGetVersion, nccl.h).
std::string release_text(int version_code);

/// The net API version of ncclNetIb and ncclNetSocket: 6 for 2.18 ... 12 for 2.30 to 2.32. nullopt for a release that
/// was not examined, older or newer: its layout is not known, so nothing of it may be touched.
std::optional<int> native_api(int version_code);

/// Releases that look up ncclGinPlugin_v11 in the net plugin's library: 2.28.7 to 2.29.3.
bool takes_gin_v11(int version_code);

/// Releases that call finalize() after an init() that failed, through a slot that is NULL for tables older than v11:
/// 2.28.x, 2.29.2 and 2.29.3. There an init() of an older table must not fail.
bool finalizes_after_failed_init(int version_code);

}  // namespace topoguard
