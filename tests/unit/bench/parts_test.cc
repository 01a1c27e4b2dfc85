// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "bench/measure.h"
#include "bench/memory.h"
#include "bench/pattern.h"
#include "bench/statistics.h"

using namespace topoguard::bench;

TEST_CASE("a byte out of place, of another message, connection or seed is seen") {
  const Pattern pattern(1, 0, 4096), same(1, 0, 4096), other(1, 1, 4096), seed(2, 0, 4096);
  const char* sent = pattern.bytes().data() + Pattern::offset_of(7);
  CHECK_FALSE(same.wrong_byte(7, sent, 4096));
  CHECK(same.wrong_byte(8, sent, 4096));
  CHECK(other.wrong_byte(7, sent, 4096));
  CHECK(seed.wrong_byte(7, sent, 4096));
  CHECK(same.wrong_byte(7, sent + 1, 64));
  std::vector<char> copy(sent, sent + 4096);
  copy[4095] ^= 1;
  CHECK(same.wrong_byte(7, copy.data(), 4096) == std::optional<std::size_t>(4095));
  CHECK_FALSE(same.wrong_byte(7, copy.data(), 4095));
}

TEST_CASE("percentiles and where the median surely is") {
  CHECK(median({}) == 0);
  CHECK(median({3}) == 3);
  CHECK(median({4, 1, 3, 2}) == 2.5);
  CHECK(percentile({0, 10}, 0.9) == Approx(9));
  CHECK(percentile({1, 2, 3}, 1) == 3);
  std::vector<double> values;
  for (int i = 1; i <= 100; ++i) values.push_back(i);
  const Spread spread = spread_of(values);
  CHECK(spread.median == 50.5);
  CHECK(spread.low == Approx(10.9));
  CHECK(spread.high == Approx(90.1));
  CHECK(spread.surely_low == 40);  // binomial (100, 1/2): ranks 40 and 61
  CHECK(spread.surely_high == 61);
  CHECK(spread_of({5, 6}).surely_low == 5);
}

TEST_CASE("sizes as people write them") {
  CHECK(parse_size("8") == std::optional<std::size_t>(8));
  CHECK(parse_size("64K") == std::optional<std::size_t>(65536));
  CHECK(parse_size("4M") == std::optional<std::size_t>(4u << 20));
  CHECK(parse_size("1G") == std::optional<std::size_t>(1u << 30));
  for (const char* wrong : {"", "0", "K", "2G", "4m", "4MB", "-1", " 8", "99999999999", "4.5K"})
    CHECK_FALSE(parse_size(wrong));
  CHECK(size_text(8) == "8 B");
  CHECK(size_text(1500) == "1500 B");
  CHECK(size_text(65536) == "64 KiB");
  CHECK(size_text(64u << 20) == "64 MiB");
}

TEST_CASE("memory is the host's, or says what is missing") {
  const auto memory = allocate("host", 100);
  memory->put(90, "0123456789", 10);
  char back[10];
  memory->get(90, back, 10);
  CHECK(std::string(back, 10) == "0123456789");
  for (const char* wrong : {"", "gpu", "cuda:", "cuda:x", "cuda:1234567"}) CHECK_THROWS(allocate(wrong, 8));
}
