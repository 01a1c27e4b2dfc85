// SPDX-License-Identifier: Apache-2.0
// What this process has: open files and threads, by /proc.
#pragma once

#include <dirent.h>
#include <unistd.h>

namespace topoguard {

inline int entries_of(const char* directory) {
  int count = 0;
  DIR* open = opendir(directory);
  while (open != nullptr && readdir(open) != nullptr) ++count;
  if (open != nullptr) closedir(open);
  return count;
}

inline int open_files() { return entries_of("/proc/self/fd"); }

inline int own_threads() { return entries_of("/proc/self/task"); }

/// Whether there are `count` threads, within five seconds: the kernel may list one a moment after it was joined.
inline bool threads_become(int count) {
  for (int i = 0; i < 500 && own_threads() != count; ++i) usleep(10000);
  return own_threads() == count;
}

}  // namespace topoguard
