// SPDX-License-Identifier: Apache-2.0
// Small bounded reads of sysfs, procfs and configuration files. EINTR and short reads are handled, descriptors are
// O_CLOEXEC and closed on every way out. Nothing throws but std::bad_alloc. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace topoguard::host {

/// Owns a descriptor.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Fd& operator=(Fd&& other) noexcept;
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd();
  int get() const { return fd_; }
  void release() { fd_ = -1; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

struct FileText {
  std::string text;
  int error = 0;     ///< errno of open or read; 0 = read
  bool cut = false;  ///< there was more than the limit
  explicit operator bool() const { return error == 0; }
};

/// All `length` bytes at `offset`; false where the file has fewer, or cannot be read.
bool read_exactly(int fd, void* to, std::size_t length, std::uint64_t offset);

/// A whole file. For sysfs attributes the default limit of one page is the kernel's own.
FileText read_file(const std::string& path, std::size_t limit = 4096);
FileText read_file_at(int directory, const char* name, std::size_t limit = 4096);

/// The file's text without blanks at both ends. nullopt where it cannot be read or holds a NUL or a byte over 0x7e.
std::optional<std::string> read_word(const std::string& path);
std::optional<std::string> read_word_at(int directory, const char* name);
/// A decimal or 0x-prefixed integer with nothing after it.
std::optional<std::int64_t> read_number(const std::string& path);

std::optional<std::int64_t> parse_number(std::string_view text);
std::string_view trim(std::string_view text);

/// Open for listing or for the *_at reads. Fd is empty on failure, with errno in *error.
Fd open_directory(const std::string& path, int* error = nullptr);
Fd open_directory_at(int directory, const char* name, int* error = nullptr);

struct Listing {
  std::vector<std::string> names;  ///< without . and .., numbers compared by value: mlx5_2 before mlx5_10
  int error = 0;
  explicit operator bool() const { return error == 0; }
};
Listing list_directory(const std::string& path);
/// As list_directory, of a descriptor; which stays open.
Listing list_directory_at(int directory);

/// Target of a symbolic link as it is written; nullopt where there is none.
std::optional<std::string> link_target(const std::string& path);
/// Last component of a path or link target.
std::string base_name(std::string_view path);
/// base_name of link_target.
std::optional<std::string> link_name(const std::string& path);
/// Canonical path; nullopt where a component is missing.
std::optional<std::string> real_path(const std::string& path);
bool exists(const std::string& path);

/// "Permission denied" and so on, without a shared buffer.
std::string error_text(int error);

bool natural_less(std::string_view a, std::string_view b);

/// "0000:0f:00.0": domain (4 to 8 digits), bus, device, function, in hexadecimal.
bool is_pci_id(std::string_view text);

}  // namespace topoguard::host
