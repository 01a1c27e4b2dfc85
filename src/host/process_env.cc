// SPDX-License-Identifier: Apache-2.0
#include "host/process_env.h"

#include <sys/auxv.h>

#include <cstdlib>

namespace topoguard {

std::optional<std::string> live_variable(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

bool is_privileged() { return getauxval(AT_SECURE) != 0; }

}  // namespace topoguard
