// SPDX-License-Identifier: Apache-2.0
// Which NCCL a job of this host would load, without loading it: where the dynamic linker would find libnccl.so.2, and
// what that file says. A framework that brings its own copy (PyTorch's wheels) is not seen so: name it. Thread-safe.
#pragma once

#include <optional>
#include <string>

#include "host/sources.h"

namespace topoguard::check {

/// The first libnccl.so.2 on LD_LIBRARY_PATH, in the linker's cache, or in its default directories. nullopt: none.
std::optional<std::string> find_libnccl(const Sources& sources, const std::string& ld_library_path);

/// "2.28.9", from the name behind its links (libnccl.so.2.28.9), else from the banner in its read-only data ("NCCL
/// version 2.28.9+cuda13.0", in every release since 2.0: init.cc). nullopt where neither tells.
std::optional<std::string> libnccl_release(const std::string& path);

}  // namespace topoguard::check
