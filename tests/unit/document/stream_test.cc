// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

#include "document/document_stream.h"

using namespace topoguard;

namespace {

std::vector<std::string> split(std::string text, std::size_t step, std::size_t limit = 1 << 20) {
  DocumentStream stream(
      [&text, step](char* buffer, std::size_t size) {
        const std::size_t count = std::min({step, size, text.size()});
        std::memcpy(buffer, text.data(), count);
        text.erase(0, count);
        return count;
      },
      limit);
  std::vector<std::string> out;
  while (auto document = stream.next()) out.push_back(*document);
  return out;
}

}  // namespace

TEST_CASE("documents are split wherever the reads end") {
  const std::vector<std::string> documents = {R"({"a": [1, {"b": "}]{\""}]})", "{}", "{\n \"c\\\\\": \"\\\\\"\n}"};
  for (const std::size_t step : {1, 2, 7, 4096}) {
    CHECK(split(documents[0] + documents[1] + "\n\n \t" + documents[2] + "\n", step) == documents);
    CHECK(split("\r\n" + documents[0] + "\r\n" + documents[1], step) ==
          std::vector<std::string>{documents[0], documents[1]});
  }
}

TEST_CASE("what is no object is handed out by lines, a cut one as it is") {
  CHECK(split("noise here\n{}\n[1]", 3) == std::vector<std::string>{"noise here", "{}", "[1]"});
  CHECK(split("{\"a\": {", 3) == std::vector<std::string>{"{\"a\": {"});
  CHECK(split("", 3).empty());
  CHECK(split(" \n ", 3).empty());
}

TEST_CASE("a document over the limit ends the stream") {
  const auto parts = split("{}{\"a\": \"" + std::string(500, 'x'), 64, 100);
  REQUIRE(parts.size() == 2);
  CHECK(parts[1].size() == 101);
}
