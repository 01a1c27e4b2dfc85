// SPDX-License-Identifier: Apache-2.0
// A peer's connection handle: the socket address at its start and the trailer at its end.
#include <array>
#include <cstring>

#include "fuzz.h"
#include "watch/ends.h"

using namespace topoguard;

FUZZ_TARGET {
  std::array<std::uint8_t, watch::kHandleSize> handle{};
  std::memcpy(handle.data(), data, std::min(size, handle.size()));
  if (const auto address = watch::handle_address(handle.data()))
    fuzz::require(fuzz::is_printable(address->text()), "addresses are printable");
  watch::Trailer peer;
  const auto* at = handle.data() + watch::kTrailerOffset;
  if (watch::decode(at, peer) != watch::Found::trailer) return 0;
  watch::Trailer again;
  fuzz::require(watch::decode(watch::encode(peer).data(), again) == watch::Found::trailer && again == peer,
                "a trailer reads as written");
  watch::OwnEnd own;
  own.transport = "IB";
  own.facts.carrier = watch::Carrier::ib;
  own.facts.link_layer = watch::LinkLayer::ethernet;
  for (const auto& finding : watch::differences(own, peer, "peer"))
    fuzz::require(fuzz::is_printable(finding.message), "messages are printable");
  return 0;
}
