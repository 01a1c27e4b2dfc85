// SPDX-License-Identifier: Apache-2.0
#include "journal/replace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <ctime>

#include "host/file.h"
#include "journal/quiet_write.h"

namespace topoguard::journal {
namespace {

// Process numbers of two containers can be equal, so the clock is in the name, too.
std::string beside(const std::string& path) {
  static std::atomic<unsigned> number{0};
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const auto slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  return folder + "." + name + "." + std::to_string(getpid()) + "-" + std::to_string(now.tv_nsec) +
         std::to_string(number++) + ".tmp";
}

int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const Written written = quiet_write(fd, text);
    if (written.error != 0) return written.error;
    if (written.bytes == 0) return ENOSPC;
    text.remove_prefix(written.bytes);
  }
  return 0;
}

}  // namespace

std::string replace_file(const std::string& path, std::string_view text) {
  struct stat status {};
  if (lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return "is not a regular file";
  const std::string fresh = beside(path);
  const int fd = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (fd < 0) return "cannot be made: " + host::error_text(errno);
  int error = write_all(fd, text);
  // Where a quota is charged late, close() tells.
  if (::close(fd) != 0 && error == 0 && errno != EINTR) error = errno;
  if (error == 0 && std::rename(fresh.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  ::unlink(fresh.c_str());
  return "cannot be written: " + host::error_text(error);
}

}  // namespace topoguard::journal
