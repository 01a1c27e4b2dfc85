// SPDX-License-Identifier: Apache-2.0
#include "bench/pattern.h"

#include <algorithm>
#include <cstring>

namespace topoguard::bench {
namespace {

// Messages begin at one of so many places of the pattern, a cache line apart; a prime, so that no batch size repeats
// it.
constexpr std::size_t kPlaces = 1021, kApart = 64;

// splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

}  // namespace

Pattern::Pattern(std::uint64_t seed, std::uint64_t connection, std::size_t size)
    : bytes_((size + kPlaces * kApart + 7) / 8 * 8) {
  const std::uint64_t stream = mix(seed) ^ mix(~connection);
  for (std::size_t at = 0; at < bytes_.size(); at += 8) {
    const std::uint64_t word = mix(stream + at);
    std::memcpy(bytes_.data() + at, &word, sizeof word);
  }
}

std::size_t Pattern::offset_of(std::uint64_t number) { return mix(number) % kPlaces * kApart; }

std::optional<std::size_t> Pattern::wrong_byte(std::uint64_t number, const char* seen, std::size_t size) const {
  const char* sent = bytes_.data() + offset_of(number);
  if (std::memcmp(sent, seen, size) == 0) return std::nullopt;
  return static_cast<std::size_t>(std::mismatch(sent, sent + size, seen).first - sent);
}

}  // namespace topoguard::bench
