// SPDX-License-Identifier: Apache-2.0
#include "document/layout.h"

#include <catch2/catch.hpp>

#include "document/printable.h"

using namespace topoguard;

TEST_CASE("wrapped text fits, keeps its words, and cuts what no line holds") {
  std::string words;
  for (int i = 0; i < 100; ++i) words += "word" + std::to_string(i) + " ";
  for (const std::string& text :
       {words, std::string(350, 'x'), std::string("a ") + std::string(250, 'y') + " b", std::string()}) {
    const std::string out = wrapped(text, 20, 6);
    CHECK(out.back() == '\n');
    std::size_t start = 0, first = 20;
    for (std::size_t end; (end = out.find('\n', start)) != std::string::npos; start = end + 1, first = 0)
      CHECK(first + end - start <= kTextWidth);
    std::string letters, expected;
    for (const char c : out)
      if (c != ' ' && c != '\n') letters += c;
    for (const char c : text)
      if (c != ' ') expected += c;
    CHECK(letters == expected);
  }
  CHECK(wrapped("one\ntwo", 0, 0) == "one\\x0atwo\n");
}

TEST_CASE("padding counts characters, not bytes, and not colours") {
  CHECK(padded("\xc3\xbc", 3) == "\xc3\xbc  ");
  CHECK(padded("abcdef", 5) == "ab...");
  CHECK(padded("abcdef", 6) == "abcdef");
  CHECK(painted("x", Paint::bad, true) == "\x1b[1;31mx\x1b[0m");
  CHECK(painted("x", Paint::bad, false) == "x");
  CHECK(painted("x", Paint::none, true) == "x");
}
