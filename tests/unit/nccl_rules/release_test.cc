// SPDX-License-Identifier: Apache-2.0
#include "nccl_rules/release.h"

#include <catch2/catch.hpp>

using topoguard::NcclRelease;

TEST_CASE("releases are read in every form that NCCL and its packages print") {
  const auto text = [](const char* written) {
    const auto release = NcclRelease::parse(written);
    return release ? release->text() : std::string("none");
  };
  CHECK(text("2.28.9") == "2.28.9");
  CHECK(text("2.28.9+cuda13.0") == "2.28.9");
  CHECK(text("2.19.3-1") == "2.19.3");
  CHECK(text("v2.30") == "2.30.0");
  CHECK(text("22809") == "2.28.9");
  CHECK(text("2804") == "2.8.4");
  for (const auto* wrong : {"", "v", "two", "2", "2.", "2.x", "-2.1", "9999999999999.1", "2.1."}) {
    INFO(wrong);
    CHECK(text(wrong) == "none");
  }
}

TEST_CASE("what changed in which release") {
  constexpr NcclRelease k2277{2, 27, 7}, k2283{2, 28, 3}, k2289{2, 28, 9}, k2293{2, 29, 3}, k2297{2, 29, 7},
      k2303{2, 30, 3};
  CHECK(!k2277.needs_running());
  CHECK(k2283.needs_running());
  CHECK(!k2277.skips_virbr());
  CHECK(!k2289.subnet_match_inverted());
  CHECK(k2293.subnet_match_inverted());
  CHECK(k2297.subnet_match_inverted());
  CHECK(!k2303.subnet_match_inverted());
  CHECK(!NcclRelease{2, 27, 0}.empty_plugin_is_none());
  CHECK(k2277.empty_plugin_is_none());
  CHECK(NcclRelease{2, 18, 3}.max_hcas() == 16);
  CHECK(NcclRelease{2, 18, 5}.max_hcas() == 32);
}
