// SPDX-License-Identifier: Apache-2.0
// nccl.conf, in NCCL's own format.
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "host/environment.h"

using namespace topoguard;

FUZZ_TARGET {
  static const int file = memfd_create("conf", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) return 0;
  for (const auto& [name, value] : host::read_nccl_conf(path).values)
    fuzz::require(name.size() < 1024 && value.size() < 1024, "names and values are as long as NCCL's");
  return 0;
}
