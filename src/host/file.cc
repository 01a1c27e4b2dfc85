// SPDX-License-Identifier: Apache-2.0
#include "host/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace topoguard::host {

Fd& Fd::operator=(Fd&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Fd::~Fd() {
  // close() is not repeated on EINTR: Linux has freed the descriptor by then, and another thread may own the number.
  if (fd_ >= 0) ::close(fd_);
}

namespace {

Fd open_retrying(int directory, const char* name, int flags) {
  int fd;
  do {
    fd = ::openat(directory, name, flags | O_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  return Fd(fd);
}

}  // namespace

bool read_exactly(int fd, void* to, std::size_t length, std::uint64_t offset) {
  auto* at = static_cast<char*>(to);
  while (length > 0) {
    const ssize_t got = ::pread(fd, at, length, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    offset += static_cast<std::uint64_t>(got);
    length -= static_cast<std::size_t>(got);
  }
  return true;
}

FileText read_file_at(int directory, const char* name, std::size_t limit) {
  FileText result;
  // O_NONBLOCK: a FIFO that somebody put in the place of a configuration file must not hang the job.
  const Fd fd = open_retrying(directory, name, O_RDONLY | O_NOCTTY | O_NONBLOCK);
  if (!fd) {
    result.error = errno;
    return result;
  }
  char page[4096];
  while (true) {
    const ssize_t got = ::read(fd.get(), page, sizeof page);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      result.error = errno;
      result.text.clear();
      return result;
    }
    if (got == 0) return result;
    const std::size_t room = limit - result.text.size();
    result.text.append(page, std::min<std::size_t>(room, static_cast<std::size_t>(got)));
    if (static_cast<std::size_t>(got) > room) {
      result.cut = true;
      return result;
    }
  }
}

FileText read_file(const std::string& path, std::size_t limit) { return read_file_at(AT_FDCWD, path.c_str(), limit); }

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::optional<std::string> read_word_at(int directory, const char* name) {
  const FileText file = read_file_at(directory, name);
  if (!file || file.cut) return std::nullopt;
  for (const char c : file.text)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r') ||
        static_cast<unsigned char>(c) > 0x7e)
      return std::nullopt;
  return std::string(trim(file.text));
}

std::optional<std::string> read_word(const std::string& path) { return read_word_at(AT_FDCWD, path.c_str()); }

std::optional<std::int64_t> parse_number(std::string_view text) {
  int base = 10;
  if (text.substr(0, 2) == "0x") {
    text.remove_prefix(2);
    base = 16;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> read_number(const std::string& path) {
  const auto word = read_word(path);
  return word ? parse_number(*word) : std::nullopt;
}

Fd open_directory_at(int directory, const char* name, int* error) {
  Fd fd = open_retrying(directory, name, O_RDONLY | O_DIRECTORY);
  if (error) *error = fd ? 0 : errno;
  return fd;
}

Fd open_directory(const std::string& path, int* error) { return open_directory_at(AT_FDCWD, path.c_str(), error); }

Listing list_directory_at(int directory) {
  Listing result;
  // readdir wants a descriptor of its own.
  Fd own = open_retrying(directory, ".", O_RDONLY | O_DIRECTORY);
  if (!own) {
    result.error = errno;
    return result;
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::fdopendir(own.get()), &::closedir);
  if (!dir) {
    result.error = errno;
    return result;
  }
  own.release();  // closedir closes it
  errno = 0;
  while (const dirent* entry = ::readdir(dir.get())) {
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0)
      result.names.emplace_back(entry->d_name);
    errno = 0;
  }
  result.error = errno;
  std::sort(result.names.begin(), result.names.end(), natural_less);
  return result;
}

Listing list_directory(const std::string& path) {
  Listing result;
  const Fd fd = open_directory(path, &result.error);
  return fd ? list_directory_at(fd.get()) : result;
}

std::optional<std::string> link_target(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
  if (length <= 0 || length == sizeof target) return std::nullopt;
  return std::string(target, static_cast<std::size_t>(length));
}

std::string base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::optional<std::string> link_name(const std::string& path) {
  const auto target = link_target(path);
  if (!target) return std::nullopt;
  return base_name(*target);
}

std::optional<std::string> real_path(const std::string& path) {
  char resolved[PATH_MAX];
  if (!::realpath(path.c_str(), resolved)) return std::nullopt;
  return std::string(resolved);
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::string error_text(int error) {
  char buffer[128];
  return ::strerror_r(error, buffer, sizeof buffer);
}

bool natural_less(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    std::size_t end_a = i, end_b = j;
    while (end_a < a.size() && digit(a[end_a])) ++end_a;
    while (end_b < b.size() && digit(b[end_b])) ++end_b;
    while (i < end_a - 1 && a[i] == '0') ++i;
    while (j < end_b - 1 && b[j] == '0') ++j;
    if (end_a - i != end_b - j) return end_a - i < end_b - j;
    const int order = a.compare(i, end_a - i, b, j, end_b - j);
    if (order != 0) return order < 0;
    i = end_a, j = end_b;
  }
  const bool a_done = i == a.size(), b_done = j == b.size();
  if (a_done && b_done) return a < b;
  return a_done;
}

bool is_pci_id(std::string_view text) {
  const auto hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); };
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || colon < 4 || colon > 8 || text.size() != colon + 8) return false;
  constexpr std::string_view shape = ":xx:xx.x";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char want = i < colon ? 'x' : shape[i - colon];
    if (want == 'x' ? !hex(text[i]) : text[i] != want) return false;
  }
  return true;
}

}  // namespace topoguard::host
