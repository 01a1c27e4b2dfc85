// SPDX-License-Identifier: Apache-2.0
// Where the collectors look: the seams between topoguard and the machine. A default-made Sources is the live machine;
// every member that is set replaces one part of it by a recording or by a test's own function.
//
// Thread-safety: a plain value, read-only once handed to collect(). The functions in it may be called from the thread
// that calls collect(), never from another.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace topoguard {

struct Sources {
  // Directories that stand for /sys, /proc, /etc and /dev. "" = live.
  // With a recorded proc the process's own limits and CPU mask are read from it too, instead of by system call.
  std::string sys;
  std::string proc;
  std::string etc;
  std::string dev;

  /// Directory with recorded netlink dumps (link.nl, addr.nl, route4.nl, route6.nl, route-TABLE-4.nl, ...: the bytes
  /// that recvmsg returned, one after another). "" = the live kernel. A missing file counts as a forbidden dump.
  std::string netlink;

  /// Replaces the process's environment: "NAME=VALUE" each. Without it the live one is read, see `live_environment`.
  std::vector<std::string> environment;
  bool live_environment = true;

  /// Directories searched for NCCL plugins after LD_LIBRARY_PATH. Empty = what ld.so searches: its cache and defaults.
  std::vector<std::string> library_dirs;

  /// Opens and closes the character device at this path for reading and writing; 0, or the errno. Empty = open(2).
  std::function<int(const std::string& path)> try_open;

  /// dlopen(name, RTLD_NOW | RTLD_LOCAL) and dlsym, for NVML in the tool. Empty = the real ones.
  std::function<void*(const char* library)> open_library;
  std::function<void*(void* library, const char* symbol)> find_symbol;

  /// /sys and so on, without a slash at the end: the only place that spells them.
  std::string sys_path(const std::string& below = "") const;
  std::string proc_path(const std::string& below = "") const;
  std::string etc_path(const std::string& below = "") const;
  std::string dev_path(const std::string& below = "") const;

  bool sys_is_live() const { return sys.empty(); }
  bool proc_is_live() const { return proc.empty(); }
  bool netlink_is_live() const { return netlink.empty(); }
};

}  // namespace topoguard
