// SPDX-License-Identifier: Apache-2.0
#include "check/frame.h"

#include <algorithm>

namespace topoguard::check {
namespace {

constexpr std::string_view kMagic = "TGCK";

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char byte : bytes) value = (value << 8) | static_cast<unsigned char>(byte);
  return value;
}

}  // namespace

std::string frame(std::string_view body, std::uint16_t version) {
  std::string out(kMagic);
  const auto put = [&](std::uint32_t value, int bytes) {
    for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) out += static_cast<char>((value >> shift) & 0xff);
  };
  put(version, 2);
  put(0, 2);
  put(static_cast<std::uint32_t>(body.size()), 4);
  return out.append(body);
}

void FrameReader::add(std::string_view bytes) {
  if (error_ != FrameError::none) return;
  bytes_.append(bytes);
  // As early as it can be told: a stranger may send three bytes and wait.
  const std::string_view seen = bytes_;
  // NOLINTNEXTLINE(bugprone-branch-clone): the order of the checks tells a stranger from another version
  if (seen.substr(0, kMagic.size()) != kMagic.substr(0, std::min(seen.size(), kMagic.size()))) {
    error_ = FrameError::stranger;
  } else if (seen.size() >= 8 && big_endian(seen.substr(4, 2)) != kProtocol) {
    error_ = FrameError::other_version;
    version_ = static_cast<std::uint16_t>(big_endian(seen.substr(4, 2)));
  } else if (seen.size() >= 8 && big_endian(seen.substr(6, 2)) != 0) {
    error_ = FrameError::stranger;
  } else if (seen.size() >= kFrameHeader && big_endian(seen.substr(8, 4)) > limit_) {
    error_ = FrameError::too_long;
  }
}

std::optional<std::string> FrameReader::next() {
  if (error_ != FrameError::none || bytes_.size() < kFrameHeader) return std::nullopt;
  const std::size_t length = big_endian(std::string_view(bytes_).substr(8, 4));
  if (bytes_.size() - kFrameHeader < length) return std::nullopt;
  std::string body = bytes_.substr(kFrameHeader, length);
  const std::string rest = bytes_.substr(kFrameHeader + length);
  bytes_.clear();
  add(rest);
  return body;
}

}  // namespace topoguard::check
