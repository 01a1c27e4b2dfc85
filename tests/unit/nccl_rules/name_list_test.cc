// SPDX-License-Identifier: Apache-2.0
#include "nccl_rules/name_list.h"

#include <catch2/catch.hpp>
#include <string>

using topoguard::NameList;

TEST_CASE("names are prefixes unless = stands first") {
  CHECK(NameList::parse("mlx5_1").takes("mlx5_10"));
  CHECK(!NameList::parse("=mlx5_1").takes("mlx5_10"));
  CHECK(NameList::parse("=mlx5_1").takes("mlx5_1"));
  CHECK(NameList::parse("eth0,eth2").takes("eth2"));
  CHECK(!NameList::parse("eth0,eth2").takes("eth1"));
}

TEST_CASE("^ turns the list around, = after it makes it exact") {
  CHECK(!NameList::parse("^docker,lo").takes("docker0"));
  CHECK(NameList::parse("^docker,lo").takes("eth0"));
  CHECK(NameList::parse("^=eth1").takes("eth10"));
  CHECK(!NameList::parse("^=eth1").takes("eth1"));
  // Once only: the second one is part of a name.
  CHECK(NameList::parse("^=mlx5_8,^=mlx5_14").takes("mlx5_14"));
  CHECK(!NameList::parse("=^eth0").takes("eth1"));
}

TEST_CASE("ports") {
  const auto list = NameList::parse("=mlx5_0:1,mlx5_1");
  CHECK(list.takes("mlx5_0", 1));
  CHECK(!list.takes("mlx5_0", 2));
  CHECK(list.takes("mlx5_1", 2));
  CHECK(list.takes("mlx5_0"));  // an interface has no port, so every entry's agrees
  CHECK(NameList::parse("mlx5_0:").takes("mlx5_0", 7));
}

TEST_CASE("empty entries are skipped, an empty list lists everything, the rest is dropped") {
  CHECK(NameList::parse(",,eth0,").entries.size() == 1);
  CHECK(NameList::parse("").takes("eth0"));
  CHECK(!NameList::parse("^").takes("eth0"));
  CHECK(NameList::parse(":1,eth0").entries.size() == 1);
  std::string many;
  for (int i = 0; i < 20; ++i) many += "if" + std::to_string(i) + ",";
  const auto list = NameList::parse(many);
  CHECK(list.entries.size() == 16);
  CHECK(list.dropped);
  CHECK(!NameList::parse("=" + many).takes("if19"));
  CHECK(NameList::parse("=" + many, 32).takes("if19"));
}
