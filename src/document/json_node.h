// SPDX-License-Identifier: Apache-2.0
// A JSON value together with its place, read strictly. Internal to src/document and src/import.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/json_text.h"
#include "topoguard/address.h"
#include "topoguard/cpu_set.h"

namespace topoguard::json {

/// Lives no longer than the value and the node it came from, so what a temporary node would hand out does not compile.
/// Every reader throws Malformed where the value is not what it reads.
class Node {
 public:
  explicit Node(const Json& root) : value_(&root) {}

  const Json& value() const { return *value_; }
  std::string pointer() const;
  [[noreturn]] void fail(std::string_view expected) const;

  /// Empty where this object lacks the member or has null there: both mean unknown.
  std::optional<Node> member(std::string_view key) const&;
  std::optional<Node> member(std::string_view key) const&& = delete;
  Node required(std::string_view key, std::string_view expected) const&;
  Node required(std::string_view key, std::string_view expected) const&& = delete;
  std::vector<Node> items() const&;  ///< of a list; null items are left out
  std::vector<Node> items() const&& = delete;
  std::vector<Node> fields() const&;  ///< of an object, with key()
  std::vector<Node> fields() const&& = delete;
  const std::string& key() const { return key_; }

  void expect_object() const;
  std::string text() const;
  std::string name() const;  ///< text that is not empty
  bool boolean() const;
  double number() const;  ///< finite, not negative
  std::int64_t integer(std::int64_t low, std::int64_t high, std::string_view expected) const;
  int count() const;  ///< 0 to 2^31 - 1
  IpAddress address() const;
  CpuSet cpus() const;
  std::vector<std::string> texts() const;

 private:
  Node(const Json& value, const Node& up, std::string key, std::size_t index)
      : value_(&value), up_(&up), key_(std::move(key)), index_(index) {}

  const Json* value_;
  const Node* up_ = nullptr;
  std::string key_;
  std::size_t index_ = 0;
};

/// The member read by a method of Node: get(node, "mtu", &Node::count).
template <typename T>
std::optional<T> get(const Node& object, std::string_view key, T (Node::*read)() const) {
  if (const auto member = object.member(key)) return ((*member).*read)();
  return std::nullopt;
}

}  // namespace topoguard::json
