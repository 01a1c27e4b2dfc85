// SPDX-License-Identifier: Apache-2.0
#include "host/sources.h"

namespace topoguard {

std::string Sources::sys_path(const std::string& below) const { return (sys.empty() ? "/sys" : sys) + below; }
std::string Sources::proc_path(const std::string& below) const { return (proc.empty() ? "/proc" : proc) + below; }
std::string Sources::etc_path(const std::string& below) const { return (etc.empty() ? "/etc" : etc) + below; }
std::string Sources::dev_path(const std::string& below) const { return (dev.empty() ? "/dev" : dev) + below; }

}  // namespace topoguard
