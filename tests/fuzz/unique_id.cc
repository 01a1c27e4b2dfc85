// SPDX-License-Identifier: Apache-2.0
// What rank 0 announces (ncclUniqueId).
#include "fuzz.h"
#include "launch/announcement.h"

using namespace topoguard;

FUZZ_TARGET {
  const auto announcement = read_announcement(data, size);
  if (!announcement) return 0;
  fuzz::require(announcement->port >= 0 && announcement->port < 65536, "a port is a port");
  AnnouncementFacts facts;
  facts.rank = 1;
  facts.ranks = 2;
  facts.route_error = size % 2 == 0 ? 0 : 101;
  if (const auto finding = judge(*announcement, facts, HostSnapshot()))
    fuzz::require(fuzz::is_printable(finding->message), "messages are printable");
  return 0;
}
