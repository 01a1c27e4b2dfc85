// SPDX-License-Identifier: Apache-2.0
//
// The GPUs that the fake CUDA runtime and the fake NVML pretend to have. Both read the same environment, once per
// process:
//
//   FAKECUDA_BUSIDS        comma list of PCI addresses, one GPU each        (default 0000:a0:00.0)
//   FAKECUDA_COMPUTE       compute capability MAJOR.MINOR of all of them    (default 9.0)
//   FAKECUDA_DRIVER        what cudaDriverGetVersion says                   (default 13000)
//   FAKECUDA_MEMORY        bytes of memory per GPU                          (default 80 GiB)
//   FAKECUDA_GDR           1: GPUDirect RDMA supported                      (default 1)
//   CUDA_VISIBLE_DEVICES   as CUDA has it: indices into the list; the runtime sees only those, NVML sees all
//
// A value that cannot be read ends the process with a message: a rig that runs with other devices than asked proves
// nothing.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fakecuda {

struct Devices {
  std::vector<std::string> bus_ids;  // NVML's order
  std::vector<int> visible;          // runtime ordinal -> index into bus_ids
  int compute_major = 9;
  int compute_minor = 0;
  int driver_version = 13000;
  std::size_t memory_bytes = std::size_t{80} << 30;
  bool gpu_direct_rdma = true;
};

// Never destroyed: NCCL's threads call in while the process exits. Thread-safe.
const Devices& devices();

// Index into bus_ids, or -1. Letter case and the width of the PCI domain (4 or 8 digits) do not matter.
int find_bus_id(const std::string& bus_id);

}  // namespace fakecuda
