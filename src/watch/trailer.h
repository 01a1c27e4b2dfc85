// SPDX-License-Identifier: Apache-2.0
// What one end of a connection tells the other: 32 bytes at 96..127 of NCCL's 128-byte connection handle, written by
// listen() and read by the peer's connect(). No release from 2.18 to 2.30 writes or reads those bytes (Socket uses 72,
// IB 64, from 2.30.7 96), and all 128 travel. Layout, version 1, little endian, no padding:
//
//    0  2  magic "TG"                    20  2  MTU in bytes, 0 unknown
//    2  1  version                       22  2  speed in units of 100 Mbit/s, 0 unknown
//    3  1  bits 0-1 transport            24  2  NCCL release (22809), 0 unknown
//          bits 2-3 link layer           26  2  settings: fingerprint of the user's NCCL_* that should agree
//          bits 4-5 RoCE version         28  2  decision: fingerprint of what topoguard decided
//          bit  6   IPv6 address         30  2  checksum of bytes 0..29
//    4 16  GID, or address as IPv4-mapped or IPv6; all zero unknown
//
// A release that changes the meaning of a byte takes the next version number; a reader takes only its own.
// Plain values, no system call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "topoguard/address.h"

namespace topoguard::watch {

inline constexpr std::size_t kHandleSize = 128;  ///< NCCL_NET_HANDLE_MAXSIZE, 2.18 to 2.30
inline constexpr std::size_t kTrailerSize = 32;
inline constexpr std::size_t kTrailerOffset = kHandleSize - kTrailerSize;
inline constexpr std::uint8_t kTrailerVersion = 1;
static_assert(kTrailerOffset == 96, "IB of NCCL 2.30.7 uses the 96 bytes before it");

enum class Carrier : std::uint8_t { unknown, socket, ib };
enum class LinkLayer : std::uint8_t { unknown, infiniband, ethernet };

struct Trailer {
  Carrier carrier = Carrier::unknown;
  LinkLayer link_layer = LinkLayer::unknown;
  int roce_version = 0;  ///< 1 or 2; 0 unknown or no RoCE
  bool inet6 = false;
  Gid address;
  int mtu = 0;                 ///< bytes: the HCA port's active MTU, or the netdev's
  int speed_100mbps = 0;       ///< up to 6.5 Tbit/s
  int nccl_release = 0;        ///< as ncclGetVersion has it
  std::uint16_t settings = 0;  ///< 0 unknown
  std::uint16_t decision = 0;  ///< 0 unknown

  bool operator==(const Trailer&) const = default;
};

using TrailerBytes = std::array<std::uint8_t, kTrailerSize>;

/// Values that do not fit become 0, "unknown".
TrailerBytes encode(const Trailer& trailer);

enum class Found : std::uint8_t { nothing, other_version, trailer };
/// `nothing`: zeros, garbage, or a damaged trailer.
Found decode(const std::uint8_t* bytes, Trailer& trailer);

/// Never 0. 16 bits of FNV-1a, to tell settings apart, not to protect them.
class Fingerprint {
 public:
  void add(std::string_view text);
  std::uint16_t value() const;

 private:
  std::uint32_t hash_ = 2166136261u;
};

// The pattern that must survive the transport's own listen() before anything is written there.
TrailerBytes survival_pattern();

}  // namespace topoguard::watch
