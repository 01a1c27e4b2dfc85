// SPDX-License-Identifier: Apache-2.0
#include "io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "document/document_stream.h"
#include "document/printable.h"

namespace topoguard::cli {
namespace {

std::string temporary_beside(const std::string& path) { return path + ".tmp" + std::to_string(getpid()); }

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool failed(const std::string& name, const char* what) {
  complain(printable(name, 400) + ": " + what + ": " + std::strerror(errno));
  return false;
}

}  // namespace

std::string shown_name(const std::string& path) { return path == "-" ? "standard input" : path; }

void complain(std::string_view text) {
  std::fprintf(stderr, "topoguard: %.*s\n", static_cast<int>(text.size()), text.data());
}

std::optional<std::string> read_file(const std::string& path, std::size_t limit) {
  const int fd = path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return failed(path, "cannot be opened"), std::nullopt;
  std::string text;
  std::optional<int> error;
  while (text.size() <= limit) {
    char buffer[1 << 16];
    const ssize_t count = read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) error = errno;
    if (count <= 0) break;
    text.append(buffer, static_cast<std::size_t>(count));
  }
  if (fd != STDIN_FILENO) close(fd);
  if (error) {
    errno = *error;
    return failed(shown_name(path), "cannot be read"), std::nullopt;
  }
  if (text.size() > limit + 1) text.resize(limit + 1);
  return text;
}

bool each_document(const std::string& path, const std::function<bool(const std::string& text, int number)>& take) {
  const int fd = path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return failed(path, "cannot be opened");
  int error = 0;
  DocumentStream stream([&](char* buffer, std::size_t size) -> std::size_t {
    ssize_t count = 0;
    do count = read(fd, buffer, size);
    while (count < 0 && errno == EINTR);
    if (count < 0) error = errno;
    return count < 0 ? 0 : static_cast<std::size_t>(count);
  });
  bool going = true;
  int number = 0;
  while (going && error == 0) {
    const auto text = stream.next();
    if (!text || error != 0) break;
    going = take(*text, ++number);
  }
  if (fd != STDIN_FILENO) close(fd);
  if (error != 0) {
    errno = error;
    return failed(shown_name(path), "cannot be read");
  }
  if (number == 0)
    complain(printable(shown_name(path), 400) + ": expected documents from `topoguard snapshot`, found none");
  return going && number > 0;
}

bool write_text(std::string_view text, const std::string& path) {
  if (path.empty() || path == "-")
    return write_all(STDOUT_FILENO, text) || failed("standard output", "cannot be written");
  struct stat status {};
  // A device or pipe cannot be replaced by a file.
  const bool in_place = stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  const std::string target = in_place ? path : temporary_beside(path);
  const int fd = open(target.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (in_place ? 0 : O_EXCL), 0644);
  if (fd < 0) return failed(path, "cannot be written");
  bool done = write_all(fd, text);
  int error = errno;
  if (close(fd) != 0 && done) {
    done = false;
    error = errno;
  }
  if (done && !in_place && rename(target.c_str(), path.c_str()) != 0) {
    done = false;
    error = errno;
  }
  if (done) return true;
  if (!in_place) unlink(target.c_str());
  errno = error;
  return failed(path, "cannot be written");
}

bool stdout_is_terminal() { return isatty(STDOUT_FILENO) == 1; }

bool stdout_takes_colour() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return stdout_is_terminal() && (no_color == nullptr || *no_color == '\0') &&
         (term == nullptr || std::strcmp(term, "dumb") != 0);
}

}  // namespace topoguard::cli
