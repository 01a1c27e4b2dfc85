// SPDX-License-Identifier: Apache-2.0
#include "check/nodelist.h"

#include <catch2/catch.hpp>

using topoguard::check::expand_nodelist;
using Names = std::vector<std::string>;

TEST_CASE("host lists as Slurm and people write them") {
  const struct {
    const char* text;
    Names names;
  } rows[] = {
      {"a", {"a"}},
      {"a,b.example,10.0.0.1", {"a", "b.example", "10.0.0.1"}},
      {"gpu[1-3]", {"gpu1", "gpu2", "gpu3"}},
      {"gpu[008-011]", {"gpu008", "gpu009", "gpu010", "gpu011"}},
      {"gpu[01,07-08,3]", {"gpu01", "gpu07", "gpu08", "gpu3"}},
      {"login1,gpu[1-2],x", {"login1", "gpu1", "gpu2", "x"}},
      {"r[1-2]n[5-6]-ib", {"r1n5-ib", "r1n6-ib", "r2n5-ib", "r2n6-ib"}},
      {"10.61.[1-3].1", {"10.61.1.1", "10.61.2.1", "10.61.3.1"}},
      {"[fd00::1],fd00::2", {"[fd00::1]", "fd00::2"}},
  };
  for (const auto& row : rows) {
    INFO(row.text);
    const auto names = expand_nodelist(row.text);
    REQUIRE(names);
    CHECK(*names == row.names);
  }
}

TEST_CASE("what is no host list") {
  for (const char* text : {"", ",", "a,", "a,,b", "a[1-2", "a1-2]", "a[[1]]", "a[]", "a[1-]", "a[-2]", "a[3-1]", "a[x]",
                           "a[1,]", "a[0-4000000000]", "a[1-200][1-200]", "a[99999999999]", "]["}) {
    INFO(text);
    CHECK_FALSE(expand_nodelist(text));
  }
}

TEST_CASE("a thousand hosts") {
  const auto names = expand_nodelist("node[0001-1000]");
  REQUIRE(names);
  CHECK(names->size() == 1000);
  CHECK(names->back() == "node1000");
  CHECK((*names)[8] == "node0009");
}
