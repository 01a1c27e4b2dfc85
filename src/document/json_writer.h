// SPDX-License-Identifier: Apache-2.0
// JSON text as it is appended: what a job's process writes. nlohmann's values are for the command only: their
// destructor allocates and may not throw, so that a refused allocation would end the process.
//
// Objects and lists are closed and separated by construction. Strings are escaped; each byte that belongs to no
// character becomes U+FFFD. Numbers: whole ones without a fraction, others as the shortest text
// that reads back the same; null for infinity and NaN.
//
// Throws std::bad_alloc only. Thread-safety: a plain value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace topoguard {

class JsonArray;

/// Members stand in the order in which they were put; a key is put once.
class JsonObject {
 public:
  template <typename T>
  JsonObject& put(std::string_view key, const T& value);
  /// Left out where it is unknown.
  template <typename T>
  JsonObject& put(std::string_view key, const std::optional<T>& known) {
    return known ? put(key, *known) : *this;
  }
  JsonObject& put_all(const JsonObject& members);

  std::string text() const { return "{" + members_ + "}"; }

 private:
  void key(std::string_view name);
  std::string members_;
};

class JsonArray {
 public:
  JsonArray() = default;
  template <typename List>
  explicit JsonArray(const List& list) {
    for (const auto& item : list) add(item);
  }
  template <typename T>
  JsonArray& add(const T& value);

  std::string text() const { return "[" + elements_ + "]"; }

 private:
  std::string elements_;
};

namespace json {

void append(std::string& to, std::string_view text);
void append(std::string& to, double number);

template <typename T>
void append_value(std::string& to, const T& value) {
  if constexpr (std::is_same_v<T, bool>)
    to += value ? "true" : "false";
  else if constexpr (std::is_same_v<T, std::nullptr_t>)
    to += "null";
  else if constexpr (std::is_integral_v<T>)
    to += std::to_string(value);
  else if constexpr (std::is_same_v<T, JsonObject> || std::is_same_v<T, JsonArray>)
    to += value.text();
  else if constexpr (std::is_convertible_v<const T&, std::string_view>)
    append(to, std::string_view(value));
  else
    append(to, value);
}

}  // namespace json

template <typename T>
JsonObject& JsonObject::put(std::string_view name, const T& value) {
  key(name);
  json::append_value(members_, value);
  return *this;
}

template <typename T>
JsonArray& JsonArray::add(const T& value) {
  if (!elements_.empty()) elements_ += ',';
  json::append_value(elements_, value);
  return *this;
}

}  // namespace topoguard
