// SPDX-License-Identifier: Apache-2.0
// A keyed hash for redaction: without the key nobody can try out names and addresses.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace topoguard {

class RedactKey {
 public:
  using Bytes = std::array<std::uint8_t, 16>;

  explicit RedactKey(const Bytes& bytes);
  /// The same phrase on every host of a cluster gives the same replacements there. Long phrases are better ones.
  static RedactKey from_phrase(std::string_view phrase);

  /// SipHash-2-4 (Aumasson and Bernstein, 2012) of domain, a zero byte, and data.
  std::uint64_t hash(std::string_view domain, std::string_view data) const;

 private:
  std::uint64_t k0_ = 0, k1_ = 0;
};

}  // namespace topoguard
