// SPDX-License-Identifier: Apache-2.0
#include "watch/trailer.h"

#include <algorithm>
#include <string_view>

namespace topoguard::watch {
namespace {

// Byte positions, each where the one before ends.
constexpr std::size_t kMagic = 0, kVersion = 2, kKinds = 3, kAddress = 4, kMtu = 20, kSpeed = 22, kRelease = 24,
                      kSettings = 26, kDecision = 28, kChecksum = 30;
static_assert(kAddress + std::tuple_size_v<decltype(Gid::bytes)> == kMtu, "");
static_assert(kChecksum + 2 == kTrailerSize, "");

void put16(TrailerBytes& bytes, std::size_t at, int value) {
  if (value < 0 || value > 0xFFFF) value = 0;
  bytes[at] = static_cast<std::uint8_t>(value & 0xFF);
  bytes[at + 1] = static_cast<std::uint8_t>(value >> 8);
}

int get16(const std::uint8_t* bytes, std::size_t at) { return bytes[at] | bytes[at + 1] << 8; }

int checksum(const std::uint8_t* bytes) {
  Fingerprint sum;
  sum.add({reinterpret_cast<const char*>(bytes), kChecksum});
  return sum.value();
}

}  // namespace

void Fingerprint::add(std::string_view text) {
  for (const char c : text) hash_ = (hash_ ^ static_cast<std::uint8_t>(c)) * 16777619u;
}

std::uint16_t Fingerprint::value() const {
  const auto folded = static_cast<std::uint16_t>((hash_ >> 16) ^ (hash_ & 0xFFFF));
  return folded != 0 ? folded : 1;
}

TrailerBytes encode(const Trailer& trailer) {
  TrailerBytes bytes{};
  bytes[kMagic] = 'T';
  bytes[kMagic + 1] = 'G';
  bytes[kVersion] = kTrailerVersion;
  const int roce = trailer.roce_version >= 0 && trailer.roce_version <= 2 ? trailer.roce_version : 0;
  bytes[kKinds] =
      static_cast<std::uint8_t>(static_cast<int>(trailer.carrier) | static_cast<int>(trailer.link_layer) << 2 |
                                roce << 4 | (trailer.inet6 ? 1 << 6 : 0));
  std::copy(trailer.address.bytes.begin(), trailer.address.bytes.end(), bytes.begin() + kAddress);
  put16(bytes, kMtu, trailer.mtu);
  put16(bytes, kSpeed, trailer.speed_100mbps);
  put16(bytes, kRelease, trailer.nccl_release);
  put16(bytes, kSettings, trailer.settings);
  put16(bytes, kDecision, trailer.decision);
  put16(bytes, kChecksum, checksum(bytes.data()));
  return bytes;
}

Found decode(const std::uint8_t* bytes, Trailer& trailer) {
  if (bytes[kMagic] != 'T' || bytes[kMagic + 1] != 'G') return Found::nothing;
  if (get16(bytes, kChecksum) != checksum(bytes)) return Found::nothing;
  if (bytes[kVersion] != kTrailerVersion) return Found::other_version;
  const int kinds = bytes[kKinds];
  const int carrier = kinds & 3, link_layer = kinds >> 2 & 3, roce = kinds >> 4 & 3;
  if (carrier > 2 || link_layer > 2 || roce > 2) return Found::nothing;
  trailer.carrier = static_cast<Carrier>(carrier);
  trailer.link_layer = static_cast<LinkLayer>(link_layer);
  trailer.roce_version = roce;
  trailer.inet6 = (kinds & 1 << 6) != 0;
  std::copy_n(bytes + kAddress, trailer.address.bytes.size(), trailer.address.bytes.begin());
  trailer.mtu = get16(bytes, kMtu);
  trailer.speed_100mbps = get16(bytes, kSpeed);
  trailer.nccl_release = get16(bytes, kRelease);
  trailer.settings = static_cast<std::uint16_t>(get16(bytes, kSettings));
  trailer.decision = static_cast<std::uint16_t>(get16(bytes, kDecision));
  return Found::trailer;
}

TrailerBytes survival_pattern() {
  TrailerBytes bytes{};
  // No two neighbours equal and none zero: neither a memset nor a short copy leaves it whole.
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(0xA5 ^ (i * 37 + 1));
  return bytes;
}

}  // namespace topoguard::watch
