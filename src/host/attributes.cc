// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "host/links.h"

namespace topoguard::host {
namespace {

template <typename Number>
Number number(const nlattr* attribute, Number fallback) {
  if (!attribute || nla_len(attribute) < static_cast<int>(sizeof(Number))) return fallback;
  Number value;
  std::memcpy(&value, nla_data(attribute), sizeof value);
  return value;
}

}  // namespace

std::uint8_t u8(const nlattr* attribute, std::uint8_t fallback) { return number(attribute, fallback); }
std::uint16_t u16(const nlattr* attribute, std::uint16_t fallback) { return number(attribute, fallback); }
std::uint32_t u32(const nlattr* attribute, std::uint32_t fallback) { return number(attribute, fallback); }

std::string text(const nlattr* attribute) {
  if (!attribute) return {};
  const auto* bytes = static_cast<const char*>(nla_data(attribute));
  return std::string(bytes, ::strnlen(bytes, static_cast<std::size_t>(nla_len(attribute))));
}

std::string address_text(const nlattr* attribute) {
  IpAddress address;
  const int length = attribute ? nla_len(attribute) : 0;
  if (length != 4 && length != 16) return {};
  address.family = length == 4 ? Family::inet : Family::inet6;
  std::memcpy(address.bytes.data(), nla_data(attribute), static_cast<std::size_t>(length));
  return address.text();
}

}  // namespace topoguard::host
