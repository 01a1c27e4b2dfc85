// SPDX-License-Identifier: Apache-2.0
// Where this program's plugins lie.
#pragma once

#include <string>

namespace topoguard::cli {

inline constexpr const char* kNetPlugin = "libnccl-net-topoguard.so";

/// With a closing slash; "" where the plugins are not found: in `wanted` alone where it is named, else beside this
/// program or in the library folder of its installation.
std::string library_folder(const std::string& wanted);

}  // namespace topoguard::cli
