// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <random>

#include "document/document.h"
#include "document/json_text.h"
#include "document/printable.h"
#include "sample.h"

using namespace topoguard;

namespace {

std::string error_of(const std::string& text, const std::string& file = "bad.json") {
  const ReadSnapshot result = read_snapshot(text, file);
  CHECK(result.host.has_value() == result.error.empty());
  CHECK(result.error == printable(result.error));  // one line, printable, UTF-8
  CHECK(result.error.size() < 1200);
  return result.error;
}

std::string member(const std::string& members) { return R"({"schema": "topoguard.host/1", )" + members + "}"; }

}  // namespace

TEST_CASE("an error line names file, pointer and what was expected") {
  struct Row {
    std::string text, pointer, expected;
  };
  const std::string link = R"("ifindex": 1, "ifname": "a")";
  const Row row = GENERATE_COPY(values<Row>({
      {"", "(top level)", "the rest of the document"},
      {"  \n", "(top level)", "the rest of the document"},
      {"nonsense", "(top level)", "JSON"},
      {"[]", "(top level)", "topoguard import"},
      {"7", "(top level)", "an object"},
      {"{}", "/schema", "topoguard.host/1"},
      {R"({"schema": "topoguard.decision/1"})", "/schema", "topoguard.host/1"},
      {member(R"("links": {})"), "/links", "a list"},
      {member(R"("links": [7])"), "/links/0", "an object"},
      {member(R"("links": [{"ifindex": 1}])"), "/links/0/ifname", "name"},
      {member(R"("links": [{"ifname": "a"}])"), "/links/0/ifindex", "number"},
      {member(R"("links": [{"ifindex": -4, "ifname": "a"}])"), "/links/0/ifindex", "above 0"},
      {member(R"("links": [{"ifindex": 18446744073709551615, "ifname": "a"}])"), "/links/0/ifindex", "above 0"},
      {member(R"("links": [{"ifindex": 1.5, "ifname": "a"}])"), "/links/0/ifindex", "above 0"},
      {member(R"("links": [null, {)" + link + R"(, "mtu": "1500"}])"), "/links/1/mtu", "whole number"},
      {member(R"("links": [{)" + link + R"(, "flags": ["UP", 3]}])"), "/links/0/flags/1", "text"},
      {member(R"("links": [{)" + link + R"(, "speed_mbps": 1e3}])"), "/links/0/speed_mbps", "speed"},
      {member(R"("links": [{)" + link +
              R"(, "addr_info": [{"family": "inet", "local": "10.0.0.256", "prefixlen": 8}]}])"),
       "/links/0/addr_info/0/local", "address"},
      {member(R"("links": [{)" + link +
              R"(, "addr_info": [{"family": "inet6", "local": "10.0.0.2", "prefixlen": 8}]}])"),
       "/links/0/addr_info/0/local", "inet6"},
      {member(R"("links": [{)" + link +
              R"(, "addr_info": [{"family": "inet", "local": "10.0.0.2", "prefixlen": 33}]}])"),
       "/links/0/addr_info/0/prefixlen", "0 to 32"},
      {member(R"("links": [{)" + link + R"(, "addr_info": [{"family": "ipx", "local": "1", "prefixlen": 3}]}])"),
       "/links/0/addr_info/0/family", "inet6"},
      {member(R"("routes": [{"dst": "10.0.0.0/40"}])"), "/routes/0/dst", "prefix"},
      {member(R"("routes": [{"dev": "eth0"}])"), "/routes/0/dst", "default"},
      {member(R"("routes": [{"dst": "default", "gateway": "gw"}])"), "/routes/0/gateway", "address"},
      {member(R"("routes": [{"dst": "default", "via": {"family": "inet6"}}])"), "/routes/0/via/host", "address"},
      {member(R"("routes": [{"dst": "default", "nexthops": [{"gateway": 1}]}])"), "/routes/0/nexthops/0/gateway",
       "address"},
      {member(R"("rdma": [{"name": "m", "ports": [{"port": 0}]}])"), "/rdma/0/ports/0/port", "1 to 255"},
      {member(R"("rdma": [{"name": "m", "ports": [{"port": 1, "gids": [{"index": 0, "gid": "fe80"}]}]}])"),
       "/rdma/0/ports/0/gids/0/gid", "GID"},
      {member(R"("rdma": [{"name": "", "ports": []}])"), "/rdma/0/name", "name"},
      {member(R"("rdma": [{"name": "m", "usable": "yes"}])"), "/rdma/0/usable", "true or false"},
      {member(R"("gpus": [{"index": -1}])"), "/gpus/0/index", "whole number"},
      {member(R"("gpus": [{"index": 0, "numa_node": -2}])"), "/gpus/0/numa_node", "-1 for unknown"},
      {member(R"("paths": [{"gpu": 0, "device": "m", "path": "NV12"}])"), "/paths/0/path", "PIX"},
      {member(R"("numa": [{"node": 0, "cpus": "5-1"}])"), "/numa/0/cpus", "0-31"},
      {member(R"("process": {"memlock_bytes": -5})"), "/process/memlock_bytes", "unlimited"},
      {member(R"("peers": ["node-b"])"), "/peers/0", "address"},
      {member(R"("env": {"A/B~": 1})"), "/env/A~1B~0", "text"},
      {member(R"("shm_bytes": -1)"), "/shm_bytes", "bytes"},
      {member(R"("pci": [{"id": "0000:01:00.0", "link_gts": -1}])"), "/pci/0/link_gts", "negative"},
      {member(R"("links": [{"ifindex": 1, "ifname" "a"}])"), "/links/0/ifname (", "JSON"},
      {member(R"("x": 1e999)"), "/x", "double"},
      {member("\"x\": \"a\xff\""), "/x", "UTF-8"},
      {member("\"x\": \"a\xc3(\""), "/x", "UTF-8"},
      {std::string("\xff\xfe{\0", 4), "(top level)", "UTF-8"},
  }));
  const std::string error = error_of(row.text, "bad.json");
  INFO(row.text << "\n" << error);
  CHECK(error.rfind("bad.json: " + row.pointer, 0) == 0);
  const auto expected = error.find(": expected ");
  REQUIRE(expected != std::string::npos);
  CHECK_THAT(error.substr(expected), Catch::Contains(row.expected));
}

TEST_CASE("a document cut anywhere is refused with its place") {
  for (std::size_t length = 0; length + 1 < kFullSnapshot.size(); ++length) {
    const std::string error = error_of(kFullSnapshot.substr(0, length));
    if (error.find("bad.json: ") != 0 || error.find(": expected ") == std::string::npos) FAIL(length << ": " << error);
  }
}

TEST_CASE("bytes changed at random give a snapshot or one line, nothing else") {
  std::mt19937 random(20250101);
  for (int round = 0; round < 4000; ++round) {
    std::string text = kFullSnapshot;
    for (int change = 0; change < 3; ++change) text[random() % text.size()] = static_cast<char>(random() % 256);
    const ReadSnapshot result = read_snapshot(text, "f");
    if (result.host.has_value() != result.error.empty()) FAIL(text);
    if (result.error != printable(result.error)) FAIL(result.error);
    if (result.host) (void)write_snapshot(*result.host);
  }
}

TEST_CASE("nesting is bounded before anything recurses") {
  for (const std::string& open : {std::string("["), std::string("{\"a\":")}) {
    std::string text;
    for (int i = 0; i < 2000000; ++i) text += open;
    CHECK_THAT(error_of(text), Catch::Contains("levels of nesting"));
  }
  CHECK(read_snapshot(member(R"("future": [[[[[[[[[[1]]]]]]]]]])"), "f").host);
}

TEST_CASE("size and number of values are bounded") {
  std::string text = member("\"x\": 1");
  text.resize((std::size_t{64} << 20) + 1, ' ');
  CHECK_THAT(error_of(text), Catch::Contains("64 MiB"));
  json::Limits limits;
  limits.values = 100;
  std::string many = "[0";
  for (int i = 0; i < 200; ++i) many += ",[]";
  CHECK_THROWS_AS(json::parse(many + "]", limits), json::Malformed);
}

TEST_CASE("file names and values cannot break the line") {
  const std::string error = error_of(member("\"peers\": [\"a\\n\\u001b[31m\"]"), "na\nme\x1b.json");
  CHECK(error.find("na\\x0ame\\x1b.json: /peers/0: expected") == 0);
}

TEST_CASE("printable keeps UTF-8, escapes the rest, and cuts at a character") {
  CHECK(printable("gr\xc3\xbc\xc3\x9f") == "gr\xc3\xbc\xc3\x9f");
  CHECK(printable("a\tb\x7f\x80") == "a\\x09b\\x7f\\x80");
  CHECK(printable("\xc2\x9b"
                  "31m") ==
        "\\xc2\\x9b"
        "31m");
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");
  CHECK(printable("abcdef", 6) == "abcdef");
  CHECK(printable("abcdefg", 6) == "abc...");
  CHECK(printable("ab\xc3\xbc\xc3\xbc\xc3\xbc", 6) == "ab...");
  CHECK(columns("gr\xc3\xbc\xc3\x9f") == 4);
}
