// SPDX-License-Identifier: Apache-2.0
#include "host/own_note.h"

namespace {

// Aligned as gABI's readers expect. Nothing refers to it: the linker keeps notes.
[[gnu::section(".note.topoguard"),
  gnu::used]] alignas(4) const topoguard::host::OwnNote note = topoguard::host::kOwnNote;

}  // namespace
