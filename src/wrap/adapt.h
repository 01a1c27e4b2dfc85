// SPDX-License-Identifier: Apache-2.0
// A base plugin of an older API version, shown to NCCL in the version by which it calls us: field by field what NCCL's
// own compatibility layer does with such a plugin. Facts: src/plugin/net/net_v6.cc to net_v11.cc of NCCL 2.30.7
// (src/net.cc up to 2.25).
//
// Where NCCL's layer and this one differ: a plugin older than v11 is initialised once and then stays initialised, for
// it stays loaded, while NCCL forgets it with the last communicator and unloads it.
//
// Thread-safety: calls of adapt_*() are serialised by NetCore; what they return may be called from any thread.
#pragma once

namespace topoguard {

/// `table` is a plugin's net table of `version`. The same table where that is `native`; else one of version `native`
/// that calls it, which lives until the process ends. Null where `version` is newer, or one of them is not v6 to v12.
/// One plugin per process: a second one of the same pair of versions takes the place of the first.
const void* adapt_net(const void* table, int version, int native);

/// The same for collective-network tables.
const void* adapt_collnet(const void* table, int version, int native);

}  // namespace topoguard
