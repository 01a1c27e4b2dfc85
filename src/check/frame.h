// SPDX-License-Identifier: Apache-2.0
// Messages on a stream: "TGCK", the protocol's version and a zero (16 bits each), the length (32 bits), all in network
// order, then that many bytes of JSON. The first eight bytes stay as they are in every version to come, so that two
// releases can tell each other apart. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace topoguard::check {

inline constexpr std::uint16_t kProtocol = 1;
inline constexpr std::size_t kFrameHeader = 12;

std::string frame(std::string_view body, std::uint16_t version = kProtocol);

enum class FrameError : std::uint8_t {
  none,
  stranger,       ///< the bytes are not this protocol's
  other_version,  ///< they are, of a version that this release does not speak
  too_long,
};

/// Bytes in, messages out. After an error nothing more comes out.
class FrameReader {
 public:
  explicit FrameReader(std::size_t limit) : limit_(limit) {}

  void add(std::string_view bytes);
  void allow(std::size_t limit) { limit_ = limit; }
  std::optional<std::string> next();
  FrameError error() const { return error_; }
  std::uint16_t version() const { return version_; }  ///< the other side's, where error() is other_version

 private:
  std::size_t limit_;
  std::string bytes_;
  FrameError error_ = FrameError::none;
  std::uint16_t version_ = kProtocol;
};

}  // namespace topoguard::check
