// SPDX-License-Identifier: Apache-2.0
#include "watch/trailer.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

using namespace topoguard;
using namespace topoguard::watch;

namespace {

Trailer full() {
  Trailer trailer;
  trailer.carrier = Carrier::ib;
  trailer.link_layer = LinkLayer::ethernet;
  trailer.roce_version = 2;
  trailer.address = *Gid::parse("::ffff:10.0.0.11");
  trailer.mtu = 4096;
  trailer.speed_100mbps = 4000;
  trailer.nccl_release = 22809;
  trailer.settings = 0x1234;
  trailer.decision = 0xABCD;
  return trailer;
}

}  // namespace

TEST_CASE("the layout is fixed, byte by byte") {
  const TrailerBytes bytes = encode(full());
  // clang-format off
  const std::array<int, 30> expected = {
      'T', 'G', 1, 2 | 2 << 2 | 2 << 4,
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, 0, 11,
      0x00, 0x10, 0xA0, 0x0F, 0x19, 0x59, 0x34, 0x12, 0xCD, 0xAB};
  // clang-format on
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("byte " << i);
    CHECK(bytes[i] == expected[i]);
  }
  Trailer inet6 = full();
  inet6.inet6 = true;
  CHECK((encode(inet6)[3] & 1 << 6) != 0);
}

TEST_CASE("what one end writes the other reads") {
  Trailer read;
  CHECK(decode(encode(full()).data(), read) == Found::trailer);
  CHECK(read == full());
  CHECK(decode(encode(Trailer{}).data(), read) == Found::trailer);
  CHECK(read == Trailer{});
  Trailer too_large = full();
  too_large.mtu = 70000;
  too_large.speed_100mbps = -5;
  CHECK(decode(encode(too_large).data(), read) == Found::trailer);
  CHECK((read.mtu == 0 && read.speed_100mbps == 0 && read.nccl_release == 22809));
}

TEST_CASE("zeros, garbage and every damaged bit are no trailer") {
  Trailer untouched = full();
  TrailerBytes zeros{};
  CHECK(decode(zeros.data(), untouched) == Found::nothing);
  CHECK(decode(survival_pattern().data(), untouched) == Found::nothing);
  for (std::size_t bit = 0; bit < kTrailerSize * 8; ++bit) {
    TrailerBytes bytes = encode(full());
    bytes[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    INFO("bit " << bit);
    CHECK(decode(bytes.data(), untouched) == Found::nothing);
  }
  std::mt19937 random(7);
  for (int i = 0; i < 100000; ++i) {
    TrailerBytes bytes;
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    bytes[0] = 'T', bytes[1] = 'G', bytes[2] = 9;
    if (decode(bytes.data(), untouched) == Found::trailer) FAIL("garbage of another version was read");
  }
  CHECK(untouched == full());
}

TEST_CASE("another version with a right checksum is told from garbage, and nothing of it is read") {
  TrailerBytes bytes = encode(full());
  bytes[2] = kTrailerVersion + 1;
  Fingerprint sum;
  sum.add({reinterpret_cast<const char*>(bytes.data()), 30});
  bytes[30] = static_cast<std::uint8_t>(sum.value() & 0xFF);
  bytes[31] = static_cast<std::uint8_t>(sum.value() >> 8);
  Trailer read;
  CHECK(decode(bytes.data(), read) == Found::other_version);
  CHECK(read == Trailer{});
}

TEST_CASE("the survival pattern differs from whatever a transport may write over it in one sweep") {
  const TrailerBytes pattern = survival_pattern();
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    CHECK(pattern[i] != 0);
    if (i > 0) CHECK(pattern[i] != pattern[i - 1]);
  }
}
