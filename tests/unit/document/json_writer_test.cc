// SPDX-License-Identifier: Apache-2.0
// The writer of a job's process beside nlohmann, which anybody can read and which wrote these documents before.
#include "document/json_writer.h"

#include <catch2/catch.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

using namespace topoguard;
using Reference = nlohmann::ordered_json;

namespace {

std::string dumped(const Reference& value) { return value.dump(-1, ' ', false, Reference::error_handler_t::replace); }

// nlohmann puts one U+FFFD for several broken bytes that begin a character.
std::string with_one_mark_each(std::string text) {
  const std::string mark = "\xEF\xBF\xBD";
  for (std::size_t at = 0; (at = text.find(mark + mark, at)) != std::string::npos;) text.erase(at, mark.size());
  return text;
}

}  // namespace

TEST_CASE("objects and lists are closed and separated, whatever is in them") {
  CHECK(JsonObject().text() == "{}");
  CHECK(JsonArray().text() == "[]");
  JsonObject object;
  object.put("s", "x").put("yes", true).put("no", false).put("nothing", nullptr).put("n", -3);
  object.put("big", std::numeric_limits<std::uint64_t>::max()).put("unknown", std::optional<int>());
  object.put("known", std::optional<double>(0.25)).put("empty", JsonObject()).put("list", JsonArray().add(1).add("b"));
  CHECK(object.text() ==
        R"({"s":"x","yes":true,"no":false,"nothing":null,"n":-3,"big":18446744073709551615,"known":0.25,"empty":{},)"
        R"("list":[1,"b"]})");
  CHECK(JsonObject().put_all(object).text() == object.text());
  CHECK(JsonObject(object).put_all(JsonObject()).text() == object.text());
  CHECK(JsonObject().put("a", 1).put_all(JsonObject().put("b", 2)).text() == R"({"a":1,"b":2})");
  CHECK(JsonArray(std::vector<std::string>{"a", "\"b\""}).text() == R"(["a","\"b\""])");
}

TEST_CASE("strings and keys of any bytes are as nlohmann writes them") {
  std::mt19937 random(8);
  // Bytes at the borders of UTF-8's table come up often, so that broken characters of every kind do.
  const std::string borders = "\x7f\x80\x8f\x90\x9f\xa0\xbf\xc1\xc2\xdf\xe0\xed\xee\xef\xf0\xf4\xf5\xff\"\\\n\t\x01 a";
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (auto left = random() % 9; left > 0; --left)
      text += random() % 3 == 0 ? static_cast<char>(random() % 256) : borders[random() % borders.size()];
    std::string expected = dumped(text), list = JsonArray().add(text).text(), object = JsonObject().put(text, 1).text();
    CHECK_NOTHROW(Reference::parse(object));
    if (expected.find("\xEF\xBF\xBD") != std::string::npos)
      for (auto* written : {&expected, &list, &object}) *written = with_one_mark_each(*written);
    REQUIRE(list == "[" + expected + "]");
    REQUIRE(object == "{" + expected + ":1}");
  }
  CHECK(JsonArray().add(std::string("a\xE2\x82z")).text() == "[\"a\xEF\xBF\xBD\xEF\xBF\xBDz\"]");
}

TEST_CASE("numbers read back as they were; whole ones have no fraction") {
  std::mt19937_64 random(8);
  for (const double number : {0.0, 0.25, 400.0, -2.5, 1e-7, 1e300, 123456.789, 9e14})
    CHECK(Reference::parse(JsonArray().add(number).text())[0].get<double>() == number);
  for (int round = 0; round < 5000; ++round) {
    const double number = static_cast<double>(random() % 1000000000) / 1e9;
    REQUIRE(Reference::parse(JsonArray().add(number).text())[0].get<double>() == number);
  }
  CHECK(JsonArray().add(400.0).add(2.5).add(0.0000125).text() == "[400,2.5,1.25e-05]");
  CHECK(dumped(2.5) + dumped(0.0000125) == "2.51.25e-05");
  CHECK(JsonArray().add(std::numeric_limits<double>::infinity()).add(std::nan("")).text() == "[null,null]");
}
