// SPDX-License-Identifier: Apache-2.0
#include "journal/append_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "host/file.h"
#include "journal/quiet_write.h"

namespace topoguard::journal {
namespace {

// A holder that was stopped must not stop the others: without the lock lines are still whole.
bool lock_soon(int fd) {
  constexpr int kTries = 10;
  timespec pause{0, 50'000};
  for (int i = 0; i < kTries; ++i) {
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    nanosleep(&pause, nullptr);
    pause.tv_nsec = std::min(pause.tv_nsec * 2, 20'000'000L);
  }
  return false;
}

struct Lock {
  explicit Lock(int file) : fd(file), held(lock_soon(file)) {}
  ~Lock() {
    if (held) flock(fd, LOCK_UN);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  int fd;
  bool held;
};

long long size_of(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 ? static_cast<long long>(status.st_size) : -1;
}

std::string unfit(const struct stat& status) {
  if (S_ISLNK(status.st_mode)) return "is a symbolic link, and links are not followed";
  if (!S_ISREG(status.st_mode)) return "is not a regular file";
  if (status.st_nlink > 1) return "has a second name (hard link)";
  return {};
}

}  // namespace

std::string_view mended_end(int fd, long long size, std::string_view start) {
  constexpr std::size_t kFar = std::size_t{1} << 20;
  if (size <= 0) return {};
  char last = 0;
  if (pread(fd, &last, 1, size - 1) != 1 || last == '\n') return {};
  std::string tail(std::min<std::size_t>(kFar, static_cast<std::size_t>(size)), '\0');
  const auto from = size - static_cast<long long>(tail.size());
  if (pread(fd, tail.data(), tail.size(), from) != static_cast<ssize_t>(tail.size())) return "\n";
  const auto line_end = tail.rfind('\n');
  if (line_end == std::string::npos && from > 0) return "\n";
  const std::size_t at = line_end == std::string::npos ? 0 : line_end + 1;
  const std::string_view piece = std::string_view(tail).substr(at);
  const bool ours = piece.substr(0, start.size()) == start.substr(0, piece.size());
  return ours && ftruncate(fd, from + static_cast<long long>(at)) == 0 ? std::string_view() : "\n";
}

AppendFile::~AppendFile() { close(); }

void AppendFile::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

bool AppendFile::was_removed() const {
  struct stat status {};
  return fstat(fd_, &status) != 0 || status.st_nlink == 0;
}

std::string AppendFile::open() {
  // Opening some devices does something already, so what is there is looked at before, and again once it is open.
  struct stat status {};
  if (lstat(path_.c_str(), &status) == 0)
    if (auto problem = unfit(status); !problem.empty()) return problem;
  fd_ = ::open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0640);
  if (fd_ < 0) return "cannot be opened: " + host::error_text(errno);
  std::string problem;
  if (fstat(fd_, &status) != 0)
    problem = "cannot be looked at: " + host::error_text(errno);
  else
    problem = unfit(status);
  if (!problem.empty()) close();
  return problem;
}

std::string AppendFile::append(std::string_view line) {
  if (fd_ >= 0 && was_removed()) close();
  if (fd_ < 0)
    if (auto problem = open(); !problem.empty()) return problem;

  const Lock lock(fd_);
  const long long found = lock.held ? size_of(fd_) : -1;
  std::string text(lock.held ? mended_end(fd_, found, start_) : std::string_view());
  text += line;
  const long long before = lock.held ? size_of(fd_) : -1;
  Written written = quiet_write(fd_, text);
  if (written.bytes == text.size()) return {};
  if (written.bytes > 0 && lock.held) {
    // The rest says what is wrong, or goes in after all.
    const std::size_t done = written.bytes;
    written = quiet_write(fd_, std::string_view(text).substr(done));
    if (done + written.bytes == text.size()) return {};
    const long long after = before + static_cast<long long>(done + written.bytes);
    if (before >= 0 && size_of(fd_) == after && ftruncate(fd_, before) != 0) {
      // the next writer finds the piece and takes it away
    }
  }
  return "cannot be written: " + host::error_text(written.error != 0 ? written.error : ENOSPC);
}

}  // namespace topoguard::journal
