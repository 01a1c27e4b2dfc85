// SPDX-License-Identifier: Apache-2.0
#include "topoguard/address.h"

#include <catch2/catch.hpp>

using topoguard::Family;
using topoguard::Gid;
using topoguard::IpAddress;
using topoguard::Prefix;

TEST_CASE("addresses are numeric text and nothing else") {
  CHECK(IpAddress::parse("10.0.0.1")->text() == "10.0.0.1");
  CHECK(IpAddress::parse("FE80::1")->text() == "fe80::1");
  CHECK(IpAddress::parse("::ffff:10.0.0.11")->family == Family::inet6);
  for (const char* bad : {"", "10.0.0", "10.0.0.256", "localhost", "fe80::1%eth0", "10.0.0.1/8", " 10.0.0.1",
                          "1111:2222:3333:4444:5555:6666:7777:8888:9999"})
    CHECK_FALSE(IpAddress::parse(bad));
  CHECK_FALSE(IpAddress::parse(std::string_view("10.0.0.1\0x", 10)));
}

TEST_CASE("scopes that cannot reach another host") {
  CHECK(IpAddress::parse("127.3.0.1")->is_loopback());
  CHECK(IpAddress::parse("::1")->is_loopback());
  CHECK_FALSE(IpAddress::parse("128.0.0.1")->is_loopback());
  CHECK_FALSE(IpAddress::parse("::2")->is_loopback());
  CHECK(IpAddress::parse("169.254.7.7")->is_link_local());
  CHECK(IpAddress::parse("febf::1")->is_link_local());
  CHECK_FALSE(IpAddress::parse("fec0::1")->is_link_local());
  CHECK_FALSE(IpAddress::parse("169.253.0.1")->is_link_local());
}

TEST_CASE("prefixes compare by their network, inside one family") {
  const auto wide = *Prefix::parse("10.1.200.255/16");
  CHECK(wide.contains(*IpAddress::parse("10.1.3.4")));
  CHECK_FALSE(wide.contains(*IpAddress::parse("10.2.3.4")));
  CHECK(wide.network() == *Prefix::parse("10.1.0.0/16"));
  CHECK(Prefix::parse("10.0.0.5/31")->contains(*IpAddress::parse("10.0.0.4")));
  CHECK_FALSE(Prefix::parse("10.0.0.5/31")->contains(*IpAddress::parse("10.0.0.6")));
  CHECK(Prefix::parse("::/0")->contains(*IpAddress::parse("2001:db8::1")));
  CHECK_FALSE(Prefix::parse("0.0.0.0/0")->contains(*IpAddress::parse("2001:db8::1")));
  CHECK(Prefix::parse("10.0.0.1")->length == 32);
  for (const char* bad : {"10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0/8x", "2001:db8::/129", "/8"})
    CHECK_FALSE(Prefix::parse(bad));
}

TEST_CASE("GIDs read in sysfs form and print short") {
  const auto gid = *Gid::parse("0000:0000:0000:0000:0000:ffff:0a00:000b");
  CHECK(gid.text() == "::ffff:10.0.0.11");
  CHECK(gid.sysfs() == "0000:0000:0000:0000:0000:ffff:0a00:000b");
  CHECK(gid.is_ipv4_mapped());
  CHECK(gid.address() == *IpAddress::parse("10.0.0.11"));
  CHECK(Gid::parse("fe80:0000:0000:0000:0000:00ff:fe00:0001")->is_link_local());
  CHECK(Gid::parse("::ffff:169.254.1.1")->is_link_local());
  CHECK(Gid::parse("::")->is_zero());
  CHECK_FALSE(Gid::parse("10.0.0.1"));
}
