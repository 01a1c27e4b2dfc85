// SPDX-License-Identifier: Apache-2.0
// IP addresses, prefixes and RDMA GIDs as values. Immutable and safe to share between threads.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace topoguard {

enum class Family : std::uint8_t { inet, inet6 };

/// "inet" or "inet6", as iproute2 prints them.
std::string_view family_name(Family family);
/// "AF_INET" or "AF_INET6", as NCCL_SOCKET_FAMILY reads them.
std::string_view nccl_family_name(Family family);

struct IpAddress {
  Family family = Family::inet;
  std::array<std::uint8_t, 16> bytes{};  ///< network order; IPv4 fills the first 4

  auto operator<=>(const IpAddress&) const = default;

  /// Numeric text only, no zone, no name. nullopt where it is not an address.
  static std::optional<IpAddress> parse(std::string_view text);
  std::string text() const;

  int bits() const { return family == Family::inet ? 32 : 128; }
  bool is_unspecified() const;
  bool is_loopback() const;    ///< 127.0.0.0/8 or ::1
  bool is_link_local() const;  ///< 169.254.0.0/16 or fe80::/10
};

struct Prefix {
  IpAddress address;
  int length = 0;  ///< 0..32 or 0..128

  auto operator<=>(const Prefix&) const = default;

  /// "10.0.0.0/8"; without a slash the whole address. Host bits are kept as written.
  static std::optional<Prefix> parse(std::string_view text);
  std::string text() const;
  bool contains(const IpAddress& other) const;  ///< false across families
  /// The prefix with its host bits cleared, so that two spellings of one subnet compare equal.
  Prefix network() const;
};

/// One entry of an RDMA port's GID table (InfiniBand architecture: 128 bits; RoCE puts an IPv6 or IPv4-mapped address
/// in it).
struct Gid {
  std::array<std::uint8_t, 16> bytes{};

  auto operator<=>(const Gid&) const = default;

  /// sysfs form ("0000:0000:...:0a00:000b") or any IPv6 text ("::ffff:10.0.0.11").
  static std::optional<Gid> parse(std::string_view text);
  std::string text() const;   ///< shortest IPv6 text, IPv4-mapped with dots: "::ffff:10.0.0.11"
  std::string sysfs() const;  ///< eight groups of four digits

  bool is_zero() const;
  bool is_ipv4_mapped() const;  ///< ::ffff:a.b.c.d
  bool is_link_local() const;   ///< fe80::/10, or IPv4-mapped 169.254.0.0/16
  IpAddress address() const;    ///< IPv4 where mapped, else IPv6
};

}  // namespace topoguard
