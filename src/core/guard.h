// SPDX-License-Identifier: Apache-2.0
// No exception crosses the C ABI: everything that NCCL calls runs inside guarded().
#pragma once

#include <utility>

namespace topoguard {

/// What `action` returns, or `fallback` where it throws anything at all.
template <typename Result, typename Action>
Result guarded(Result fallback, Action&& action) noexcept {
  try {
    return std::forward<Action>(action)();
  } catch (...) {
    return fallback;
  }
}

}  // namespace topoguard
