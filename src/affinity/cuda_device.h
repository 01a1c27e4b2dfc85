// SPDX-License-Identifier: Apache-2.0
// The GPU of the calling thread's CUDA context, asked of a driver library that is already in the process.
// CUDA is never initialised here: cuCtxGetCurrent (CUDA Driver API, Context Management) does not initialise and
// creates no context; where none is current nothing more is asked. Re-entrant.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace topoguard {

/// "0000:0f:00.0"; nullopt where libcuda is not loaded or no context is current.
std::optional<std::string> current_cuda_device();

/// One spelling of a PCI id: CUDA writes "00000000:0F:00.0" or "0000:0F:00.0", sysfs "0000:0f:00.0".
/// nullopt where the text is no PCI id.
std::optional<std::string> sysfs_pci_id(std::string_view text);

}  // namespace topoguard
