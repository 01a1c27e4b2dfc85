// SPDX-License-Identifier: Apache-2.0
// Documents that follow each other in one stream, as many hosts' `topoguard snapshot` give them through a launcher.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace topoguard {

/// Splits, does not check: what it hands out goes to read_snapshot. Holds one document and one buffer of 64 KiB.
class DocumentStream {
 public:
  /// Fills at most size bytes and returns how many, 0 at the end.
  using Source = std::function<std::size_t(char* buffer, std::size_t size)>;

  explicit DocumentStream(Source source, std::size_t limit = std::size_t{64} << 20)
      : source_(std::move(source)), limit_(limit) {}

  /// The next object, blanks around it left out. What is no object goes up to its line's end. A document over the limit
  /// is cut right behind it, and the stream ends there. Empty at the end.
  std::optional<std::string> next();

 private:
  int get();
  int peek();

  Source source_;
  std::size_t limit_;
  std::string buffer_;
  std::size_t at_ = 0;
  bool ended_ = false;
};

}  // namespace topoguard
