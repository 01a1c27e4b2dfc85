// SPDX-License-Identifier: Apache-2.0
// Addresses replaced so that their relations stay: equal ones stay equal, two that share a prefix still share exactly
// that prefix, every one keeps its kind (loopback, link-local, private, public, multicast), and a hardware address, the
// EUI-64 made from it and the GIDs that carry that still belong together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "document/redact_key.h"
#include "topoguard/address.h"

namespace topoguard {

/// Kept as they are: the bits that make the kind (of a public IPv4 address the first 8, of a global IPv6 address the
/// first 16), and the last 8, so that no host address turns into a network's own. Pure.
class AddressRedactor {
 public:
  explicit AddressRedactor(const RedactKey& key) : key_(key) {}

  IpAddress address(const IpAddress& address) const;
  Prefix prefix(const Prefix& prefix) const;  ///< the bits behind the length stay
  Gid gid(const Gid& gid) const;
  /// Colon-separated bytes: 6 (Ethernet) or 20 (InfiniBand). nullopt where the text is neither.
  std::optional<std::string> hardware(std::string_view text) const;

 private:
  void mask_ipv4(std::uint8_t* bytes, int length) const;
  void mask_ipv6(std::uint8_t* bytes, int length) const;
  void mask_interface_id(std::uint8_t* bytes, int length) const;

  RedactKey key_;
};

}  // namespace topoguard
