// SPDX-License-Identifier: Apache-2.0
// Counters where memory is refused: what is half done must be whole enough to write.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>

#include "journal/metrics.h"

namespace {
long allocations_left = -1;  // -1: as many as you like
}

void* operator new(std::size_t size) {
  if (allocations_left == 0) throw std::bad_alloc();
  if (allocations_left > 0) --allocations_left;
  if (void* memory = std::malloc(size != 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

using namespace topoguard::journal;

TEST_CASE("each allocation refused in turn: the next text is whole") {
  const Labels labels = {{"side", "a label that is too long to live in the string itself"}, {"device", "eth0"}};
  bool complete = false;
  int refused = 0;
  for (long count = 0; count < 1000 && !complete; ++count) {
    Metrics metrics;
    allocations_left = count;
    try {
      metrics.observe(Metric::connect_seconds, labels, 0.2);
      metrics.add(Metric::bytes_total, labels, 7);
      complete = true;
    } catch (const std::bad_alloc&) {
      ++refused;
    }
    allocations_left = -1;
    const std::string text = metrics.text();
    // A histogram that has begun has all of its buckets.
    std::size_t buckets = 0;
    for (std::size_t at = 0; (at = text.find("connect_seconds_bucket{", at)) != std::string::npos; ++at) ++buckets;
    CHECK((buckets == 0 || buckets == kConnectBuckets + 1));
    CHECK(complete == (text.find("bytes_total{") != std::string::npos && text.find(" 7\n") != std::string::npos));
  }
  CHECK(complete);
  CHECK(refused > 3);
}
