// SPDX-License-Identifier: Apache-2.0
#include "topoguard/cpu_set.h"

#include <catch2/catch.hpp>

using topoguard::CpuSet;

TEST_CASE("CPU lists of any width keep their form") {
  for (const char* list : {"", "0", "0-31,64-95", "0,2,4", "1020-1030,4095"})
    CHECK(CpuSet::parse(list)->text() == list);
  CHECK(CpuSet::parse("0-3\n")->count() == 4);
  CHECK(CpuSet::parse("3,1-2")->text() == "1-3");
  for (const char* bad : {"5-2", "a", "0-", "-3", "0,,1", "0,", "0-3x", "1048576", "99999999999"})
    CHECK_FALSE(CpuSet::parse(bad));
}

TEST_CASE("CPU masks as in sysfs and topology files") {
  CHECK(CpuSet::parse_mask("ffffffff,00000000,0000000f")->text() == "0-3,64-95");
  CHECK(CpuSet::parse_mask("0x3")->text() == "0-1");
  CHECK(CpuSet::parse_mask("00")->empty());
  for (const char* bad : {"", "xyz", "1,,1", "1ffffffff"}) CHECK_FALSE(CpuSet::parse_mask(bad));
}

TEST_CASE("set operations") {
  const auto a = *CpuSet::parse("0-7"), b = *CpuSet::parse("6-9");
  CHECK((a & b).text() == "6-7");
  CHECK((a | b).text() == "0-9");
  CHECK(a.intersects(b));
  CHECK((a & b).is_subset_of(a));
  CHECK_FALSE(b.is_subset_of(a));
  CHECK(a == *CpuSet::parse("0-3,4-7"));
}
