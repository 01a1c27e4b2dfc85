// SPDX-License-Identifier: Apache-2.0
#include "document/redact_address.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace topoguard {
namespace {

bool bit(const std::uint8_t* bytes, int at) { return (bytes[at / 8] >> (7 - at % 8)) & 1; }

// Each bit from first to end - 1 is kept or turned by a hash of the bits before it: so common prefixes stay common, and
// only those (the idea of Crypto-PAn, Xu et al. 2002). A run of leading zeros is kept: short hand-made numbers stay
// short.
void turn_bits(const RedactKey& key, std::string_view domain, std::uint8_t* bytes, int first, int end,
               bool keep_leading_zeros) {
  std::array<std::uint8_t, 16> before{};
  std::memcpy(before.data(), bytes, static_cast<std::size_t>((end + 7) / 8));
  bool leading = keep_leading_zeros;
  for (int at = 0; at < end; ++at) {
    if (at >= first && !leading) {
      std::string path(reinterpret_cast<const char*>(before.data()), static_cast<std::size_t>(at / 8));
      path += static_cast<char>(at % 8);
      path += static_cast<char>(before[static_cast<std::size_t>(at / 8)] >> (8 - at % 8));
      if (key.hash(domain, path) & 1) bytes[at / 8] = static_cast<std::uint8_t>(bytes[at / 8] ^ (0x80 >> at % 8));
    }
    if (bit(before.data(), at)) leading = false;
  }
}

// How many leading bits make the kind; 32 where the address itself is a name for something.
int kept_bits(const std::uint8_t* b) {
  if (b[0] == 0 || b[0] == 127 || b[0] >= 224) return 32;
  if (b[0] == 169 || b[0] == 192) return 16;
  if (b[0] == 172) return 12;
  if (b[0] == 100) return 10;
  return 8;
}

}  // namespace

void AddressRedactor::mask_ipv4(std::uint8_t* bytes, int length) const {
  turn_bits(key_, "ipv4", bytes, kept_bits(bytes), std::min(length, 24), false);
}

void AddressRedactor::mask_interface_id(std::uint8_t* bytes, int length) const {
  const bool eui64 = bytes[3] == 0xff && bytes[4] == 0xfe;
  if (!eui64) {
    turn_bits(key_, "interface-id", bytes, 0, std::min(length, 56), true);
    return;
  }
  // As hardware() has it: the maker's 24 bits stay, with the universal/local bit as it is.
  if (length < 64) return;
  std::array<std::uint8_t, 6> mac = {
      static_cast<std::uint8_t>(bytes[0] & ~2), bytes[1], bytes[2], bytes[5], bytes[6], bytes[7]};
  turn_bits(key_, "hardware", mac.data(), 24, 48, false);
  std::copy(mac.begin() + 3, mac.end(), bytes + 5);
}

void AddressRedactor::mask_ipv6(std::uint8_t* bytes, int length) const {
  static constexpr std::array<std::uint8_t, 12> mapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::equal(mapped.begin(), mapped.end(), bytes)) {
    if (length > 96) mask_ipv4(bytes + 12, length - 96);
    return;
  }
  if (bytes[0] == 0xff) return;  // multicast
  const bool zero_prefix = std::all_of(bytes, bytes + 8, [](std::uint8_t b) { return b == 0; });
  const bool link_local = bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
  if (!zero_prefix && !link_local) {
    const bool unique_local = (bytes[0] & 0xfe) == 0xfc;
    turn_bits(key_, "ipv6", bytes, unique_local ? 8 : 16, std::min(length, 64), false);
  }
  if (length > 64) mask_interface_id(bytes + 8, length - 64);
}

IpAddress AddressRedactor::address(const IpAddress& address) const { return prefix({address, address.bits()}).address; }

Prefix AddressRedactor::prefix(const Prefix& prefix) const {
  Prefix out = prefix;
  if (prefix.address.family == Family::inet)
    mask_ipv4(out.address.bytes.data(), prefix.length);
  else
    mask_ipv6(out.address.bytes.data(), prefix.length);
  return out;
}

Gid AddressRedactor::gid(const Gid& gid) const {
  Gid out = gid;
  mask_ipv6(out.bytes.data(), 128);
  return out;
}

std::optional<std::string> AddressRedactor::hardware(std::string_view text) const {
  std::vector<std::uint8_t> bytes;
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  for (std::size_t i = 0; i < text.size(); i += 3) {
    if (i + 2 > text.size() || digit(text[i]) < 0 || digit(text[i + 1]) < 0) return std::nullopt;
    if (i + 2 < text.size() && text[i + 2] != ':') return std::nullopt;
    bytes.push_back(static_cast<std::uint8_t>(digit(text[i]) * 16 + digit(text[i + 1])));
  }
  if (text.size() != bytes.size() * 3 - 1 || (bytes.size() != 6 && bytes.size() != 20)) return std::nullopt;
  const bool constant = std::all_of(bytes.begin(), bytes.end(), [&](std::uint8_t b) { return b == bytes[0]; });
  if (bytes.size() == 20) {
    // IPoIB (RFC 4391): flags and queue pair, then the port's GID
    mask_ipv6(bytes.data() + 4, 128);
  } else if (!constant) {
    std::array<std::uint8_t, 6> mac{};
    std::copy(bytes.begin(), bytes.end(), mac.begin());
    mac[0] = static_cast<std::uint8_t>(mac[0] & ~2);
    turn_bits(key_, "hardware", mac.data(), 24, 48, false);
    std::copy(mac.begin() + 3, mac.end(), bytes.begin() + 3);
  }
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (const std::uint8_t b : bytes) {
    if (!out.empty()) out += ':';
    out += kHex[b >> 4];
    out += kHex[b & 15];
  }
  return out;
}

}  // namespace topoguard
