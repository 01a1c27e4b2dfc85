// SPDX-License-Identifier: Apache-2.0
// JSON text into a value, with bounds: for input that anybody may have written. Internal to src/document and
// src/import.
#pragma once

#include <cstddef>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace topoguard::json {

using Json = nlohmann::json;

struct Limits {
  std::size_t bytes = std::size_t{64} << 20;  ///< a host with 2,000 links needs 1 MiB
  std::size_t depth = 64;                     ///< the documents need 7
  std::size_t values = std::size_t{4} << 20;  ///< bounds memory: "[[],[],..." is small as text and large in memory
};

/// What is wrong with a document, thrown inside src/document and src/import only and caught at their borders.
class Malformed : public std::exception {
 public:
  /// pointer: RFC 6901, "" for the whole document. place: "line 3, column 7" or empty.
  Malformed(std::string pointer, std::string expected, std::string found, std::string place = {})
      : pointer_(std::move(pointer)),
        expected_(std::move(expected)),
        found_(std::move(found)),
        place_(std::move(place)) {}

  /// "FILE: POINTER: expected E, found F": one printable line without a line end.
  std::string line(std::string_view file) const;
  const char* what() const noexcept override { return expected_.c_str(); }

 private:
  std::string pointer_, expected_, found_, place_;
};

/// Throws Malformed. Of members with one name in one object the last counts.
Json parse(std::string_view text, const Limits& limits = {});

/// One reference token of a JSON pointer, escaped as RFC 6901 has it, with its slash.
std::string pointer_token(std::string_view key);

/// A value as the "found" of a message: short, printable.
std::string brief(const Json& value);

}  // namespace topoguard::json
