// SPDX-License-Identifier: Apache-2.0
#include "topoguard/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace topoguard {
namespace {

// inet_pton wants a terminated string; an address never needs more than this.
bool to_buffer(std::string_view text, char (&buffer)[INET6_ADDRSTRLEN]) {
  if (text.empty() || text.size() >= sizeof buffer || text.find('\0') != std::string_view::npos) return false;
  std::memcpy(buffer, text.data(), text.size());
  buffer[text.size()] = '\0';
  return true;
}

bool same_bits(const std::array<std::uint8_t, 16>& a, const std::array<std::uint8_t, 16>& b, int bits) {
  const auto whole = static_cast<std::size_t>(bits / 8);
  if (!std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(whole), b.begin())) return false;
  const int rest = bits % 8;
  if (rest == 0) return true;
  const auto mask = static_cast<std::uint8_t>(0xff << (8 - rest));
  return (a[whole] & mask) == (b[whole] & mask);
}

}  // namespace

std::string_view family_name(Family family) { return family == Family::inet ? "inet" : "inet6"; }
std::string_view nccl_family_name(Family family) { return family == Family::inet ? "AF_INET" : "AF_INET6"; }

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  char buffer[INET6_ADDRSTRLEN];
  if (!to_buffer(text, buffer)) return std::nullopt;
  IpAddress result;
  if (inet_pton(AF_INET, buffer, result.bytes.data()) == 1) return result;
  result.family = Family::inet6;
  if (inet_pton(AF_INET6, buffer, result.bytes.data()) == 1) return result;
  return std::nullopt;
}

std::string IpAddress::text() const {
  char buffer[INET6_ADDRSTRLEN];
  return inet_ntop(family == Family::inet ? AF_INET : AF_INET6, bytes.data(), buffer, sizeof buffer);
}

bool IpAddress::is_unspecified() const {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t b) { return b == 0; });
}

bool IpAddress::is_loopback() const {
  if (family == Family::inet) return bytes[0] == 127;
  return bytes[15] == 1 && std::all_of(bytes.begin(), bytes.end() - 1, [](std::uint8_t b) { return b == 0; });
}

bool IpAddress::is_link_local() const {
  if (family == Family::inet) return bytes[0] == 169 && bytes[1] == 254;
  return bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
}

std::optional<Prefix> Prefix::parse(std::string_view text) {
  const auto slash = text.find('/');
  const auto address = IpAddress::parse(text.substr(0, slash));
  if (!address) return std::nullopt;
  Prefix result{*address, address->bits()};
  if (slash == std::string_view::npos) return result;
  const auto digits = text.substr(slash + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result.length);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  if (result.length < 0 || result.length > address->bits()) return std::nullopt;
  return result;
}

std::string Prefix::text() const { return address.text() + "/" + std::to_string(length); }

bool Prefix::contains(const IpAddress& other) const {
  return other.family == address.family && same_bits(address.bytes, other.bytes, std::clamp(length, 0, address.bits()));
}

Prefix Prefix::network() const {
  Prefix result = *this;
  result.length = std::clamp(length, 0, address.bits());
  for (std::size_t i = 0; i < result.address.bytes.size(); ++i) {
    const int kept = std::clamp(result.length - static_cast<int>(i) * 8, 0, 8);
    result.address.bytes[i] &= static_cast<std::uint8_t>(0xff << (8 - kept));
  }
  return result;
}

std::optional<Gid> Gid::parse(std::string_view text) {
  const auto address = IpAddress::parse(text);
  if (!address || address->family != Family::inet6) return std::nullopt;
  return Gid{address->bytes};
}

std::string Gid::text() const { return IpAddress{Family::inet6, bytes}.text(); }

std::string Gid::sysfs() const {
  static constexpr char digits[] = "0123456789abcdef";
  std::string result;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i != 0 && i % 2 == 0) result += ':';
    result += digits[bytes[i] >> 4];
    result += digits[bytes[i] & 15];
  }
  return result;
}

bool Gid::is_zero() const { return IpAddress{Family::inet6, bytes}.is_unspecified(); }

bool Gid::is_ipv4_mapped() const {
  return bytes[10] == 0xff && bytes[11] == 0xff &&
         std::all_of(bytes.begin(), bytes.begin() + 10, [](std::uint8_t b) { return b == 0; });
}

bool Gid::is_link_local() const { return address().is_link_local(); }

IpAddress Gid::address() const {
  if (!is_ipv4_mapped()) return IpAddress{Family::inet6, bytes};
  IpAddress result;
  std::copy(bytes.begin() + 12, bytes.end(), result.bytes.begin());
  return result;
}

}  // namespace topoguard
