// SPDX-License-Identifier: Apache-2.0
// What is sent, so that a byte in the wrong place, of the wrong message or connection, or an old one is seen. Both ends
// make the same from the seed. Immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace topoguard::bench {

class Pattern {
 public:
  /// For messages of up to `size` bytes on one direction of one connection.
  Pattern(std::uint64_t seed, std::uint64_t connection, std::size_t size);

  /// Message `number` is this part of bytes(): nothing is copied to send one.
  static std::size_t offset_of(std::uint64_t number);
  const std::vector<char>& bytes() const { return bytes_; }

  /// Place of the first byte of message `number` that is not as it was sent; nullopt where all are.
  std::optional<std::size_t> wrong_byte(std::uint64_t number, const char* seen, std::size_t size) const;

 private:
  std::vector<char> bytes_;
};

}  // namespace topoguard::bench
