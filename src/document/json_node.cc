// SPDX-License-Identifier: Apache-2.0
#include "document/json_node.h"

#include <cmath>
#include <limits>

namespace topoguard::json {

std::string Node::pointer() const {
  if (up_ == nullptr) return {};
  return up_->pointer() + (up_->value_->is_array() ? "/" + std::to_string(index_) : pointer_token(key_));
}

void Node::fail(std::string_view expected) const { throw Malformed(pointer(), std::string(expected), brief(*value_)); }

std::optional<Node> Node::member(std::string_view key) const& {
  expect_object();
  const auto found = value_->find(key);
  if (found == value_->end() || found->is_null()) return std::nullopt;
  return Node(*found, *this, std::string(key), 0);
}

Node Node::required(std::string_view key, std::string_view expected) const& {
  if (const auto found = member(key)) return *found;
  throw Malformed(pointer() + pointer_token(key), std::string(expected), "nothing");
}

std::vector<Node> Node::items() const& {
  if (!value_->is_array()) fail("a list");
  std::vector<Node> out;
  out.reserve(value_->size());
  for (std::size_t i = 0; i < value_->size(); ++i)
    if (!(*value_)[i].is_null()) out.push_back(Node((*value_)[i], *this, {}, i));
  return out;
}

std::vector<Node> Node::fields() const& {
  expect_object();
  std::vector<Node> out;
  for (auto it = value_->begin(); it != value_->end(); ++it) out.push_back(Node(it.value(), *this, it.key(), 0));
  return out;
}

void Node::expect_object() const {
  if (!value_->is_object()) fail("an object");
}

std::string Node::text() const {
  if (!value_->is_string()) fail("text");
  return value_->get<std::string>();
}

std::string Node::name() const {
  if (!value_->is_string() || value_->get_ref<const std::string&>().empty()) fail("a name");
  return value_->get<std::string>();
}

bool Node::boolean() const {
  if (!value_->is_boolean()) fail("true or false");
  return value_->get<bool>();
}

double Node::number() const {
  if (!value_->is_number()) fail("a number");
  const double number = value_->get<double>();
  if (!std::isfinite(number) || number < 0) fail("a number that is not negative");
  return number;
}

std::int64_t Node::integer(std::int64_t low, std::int64_t high, std::string_view expected) const {
  const bool too_large =
      value_->is_number_unsigned() &&
      value_->get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!value_->is_number_integer() || too_large) fail(expected);
  const auto number = value_->get<std::int64_t>();
  if (number < low || number > high) fail(expected);
  return number;
}

int Node::count() const {
  return static_cast<int>(integer(0, std::numeric_limits<int>::max(), "a whole number from 0 to 2147483647"));
}

IpAddress Node::address() const {
  const auto parsed = value_->is_string() ? IpAddress::parse(value_->get_ref<const std::string&>()) : std::nullopt;
  if (!parsed) fail("a numeric IPv4 or IPv6 address");
  return *parsed;
}

CpuSet Node::cpus() const {
  auto parsed = value_->is_string() ? CpuSet::parse(value_->get_ref<const std::string&>()) : std::nullopt;
  if (!parsed) fail("a list of CPUs or nodes such as \"0-31,64-95\"");
  return *parsed;
}

std::vector<std::string> Node::texts() const {
  std::vector<std::string> out;
  for (const Node& item : items()) out.push_back(item.text());
  return out;
}

}  // namespace topoguard::json
