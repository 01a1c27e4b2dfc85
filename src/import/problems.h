// SPDX-License-Identifier: Apache-2.0
// Where in a pasted text something was wrong. Internal to src/import.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "document/printable.h"
#include "import/import.h"

namespace topoguard::import {

class Problems {
 public:
  Problems(std::string_view file, Imported& out) : file_(printable(file, 200)), out_(out) {}

  /// found: the line or value as it stands there.
  void add(int line, std::string_view expected, std::string_view found) {
    line_of(file_ + ":" + std::to_string(line) + ": expected " + std::string(expected) + ", found \"" +
            printable(found, 60) + "\"; skipped");
  }
  void line_of(std::string text) {
    if (++count_ <= kMost) out_.problems.push_back(std::move(text));
  }
  /// Call once at the end.
  void close() {
    if (count_ > kMost)
      out_.problems.push_back(file_ + ": " + std::to_string(count_ - kMost) + " more lines were skipped");
  }
  const std::string& file() const { return file_; }

 private:
  static constexpr std::size_t kMost = 20;
  std::string file_;
  Imported& out_;
  std::size_t count_ = 0;
};

/// Words between blanks.
inline std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> out;
  while (true) {
    const std::size_t start = line.find_first_not_of(" \t\r");
    if (start == std::string_view::npos) return out;
    line.remove_prefix(start);
    const std::size_t end = line.find_first_of(" \t\r");
    out.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return out;
    line.remove_prefix(end);
  }
}

/// Calls use(line, number) for every line, without its end.
template <typename F>
void each_line(std::string_view text, F use) {
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    use(line, number);
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

/// A whole number of at most nine digits; -1 where it is none.
inline int number(std::string_view text) {
  if (text.empty() || text.size() > 9) return -1;
  int out = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return -1;
    out = out * 10 + (c - '0');
  }
  return out;
}

void read_iproute(Paste kind, std::string_view text, Problems& problems, Imported& out, HostSnapshot& host);
void read_show_gids(std::string_view text, Problems& problems, Imported& out, HostSnapshot& host);
void read_gpu_paths(std::string_view text, Problems& problems, Imported& out, HostSnapshot& host);
void read_topology(std::string_view text, Problems& problems, Imported& out, HostSnapshot& host);

}  // namespace topoguard::import
