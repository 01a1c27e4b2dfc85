// SPDX-License-Identifier: Apache-2.0
// Netlink messages: the bytes are cut into recorded dumps, each behind a length of two bytes.
#include "recorded.h"

using namespace topoguard;

FUZZ_TARGET {
  static fuzz::RecordedMachine machine;
  auto rest = fuzz::text_of(data, size);
  for (const char* dump : {"link.nl", "addr.nl", "route4.nl", "route6.nl"}) {
    std::size_t length = rest.size();
    if (rest.size() >= 2) {
      length = static_cast<std::uint8_t>(rest[0]) | static_cast<std::size_t>(static_cast<std::uint8_t>(rest[1])) << 8;
      rest.remove_prefix(2);
    }
    length = std::min(length, rest.size());
    machine.write(std::string("netlink/") + dump, rest.substr(0, length));
    rest.remove_prefix(length);
  }
  machine.collect_all();
  return 0;
}
