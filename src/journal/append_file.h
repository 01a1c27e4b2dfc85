// SPDX-License-Identifier: Apache-2.0
// A file that many processes append lines to, each of which stays whole.
//
// What guarantees that: a line is one write(2) to a descriptor opened with O_APPEND. Local file systems of Linux find
// the end and write under the inode's lock, so lines of other writers never come in between; of any length, for the
// pipe limit PIPE_BUF has nothing to do with files. What can still cut a line is a full disk, a limit on file sizes, or
// SIGKILL in the middle of the call. Writers therefore hold a flock(2) where they get it soon (50 ms): who finds that
// its own line did not fit takes it back, and who finds a killed writer's piece at the end takes that away. A piece
// that is not ours (it does not begin as our lines do) is kept, and ended by a line end. Over NFS none of this holds.
//
// Not thread-safe: the owner locks. Nothing throws but std::bad_alloc.
#pragma once

#include <string>
#include <string_view>

namespace topoguard::journal {

class AppendFile {
 public:
  /// `start` is what each of our lines begins with.
  AppendFile(std::string path, std::string start) : path_(std::move(path)), start_(std::move(start)) {}
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  ~AppendFile();

  /// `line` ends with its line end. What is wrong, for people; empty where the line is in the file, whole. Opens the
  /// file (mode 0640 less the umask) where it is not open, or was removed meanwhile; only a regular file with one name,
  /// no symbolic link. A refused line leaves nothing behind.
  std::string append(std::string_view line);
  const std::string& path() const { return path_; }

 private:
  std::string open();
  void close();
  bool was_removed() const;

  std::string path_;
  std::string start_;
  int fd_ = -1;
};

/// Takes back what a killed writer left at the end of the file, or ends a foreign piece there: the bytes to write
/// before the next line. For append(), under its lock; a function of its own for tests.
std::string_view mended_end(int fd, long long size, std::string_view start);

}  // namespace topoguard::journal
