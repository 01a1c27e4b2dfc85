// SPDX-License-Identifier: Apache-2.0
#include "document/redact_key.h"

#include <string>

namespace topoguard {
namespace {

std::uint64_t little_endian(const std::uint8_t* bytes, std::size_t count) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < count; ++i) out |= std::uint64_t{bytes[i]} << (8 * i);
  return out;
}

std::uint64_t rotated(std::uint64_t x, int bits) { return (x << bits) | (x >> (64 - bits)); }

struct State {
  std::uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1;
    v1 = rotated(v1, 13) ^ v0;
    v0 = rotated(v0, 32);
    v2 += v3;
    v3 = rotated(v3, 16) ^ v2;
    v0 += v3;
    v3 = rotated(v3, 21) ^ v0;
    v2 += v1;
    v1 = rotated(v1, 17) ^ v2;
    v2 = rotated(v2, 32);
  }

  void take(std::uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
};

}  // namespace

RedactKey::RedactKey(const Bytes& bytes)
    : k0_(little_endian(bytes.data(), 8)), k1_(little_endian(bytes.data() + 8, 8)) {}

RedactKey RedactKey::from_phrase(std::string_view phrase) {
  const RedactKey fixed(Bytes{});
  RedactKey out(Bytes{});
  out.k0_ = fixed.hash("first", phrase);
  out.k1_ = fixed.hash("second", phrase);
  return out;
}

std::uint64_t RedactKey::hash(std::string_view domain, std::string_view data) const {
  std::string text(domain);
  text += '\0';
  text += data;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  State state{k0_ ^ 0x736f6d6570736575, k1_ ^ 0x646f72616e646f6d, k0_ ^ 0x6c7967656e657261, k1_ ^ 0x7465646279746573};
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) state.take(little_endian(bytes + at, 8));
  state.take(little_endian(bytes + at, text.size() - at) | std::uint64_t{text.size() & 0xff} << 56);
  state.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace topoguard
