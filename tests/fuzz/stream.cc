// SPDX-License-Identifier: Apache-2.0
// Many hosts' documents mixed in one stream, as `srun topoguard snapshot | topoguard compare -` has them.
#include <algorithm>
#include <cstring>

#include "compare/compare.h"
#include "decide/decide.h"
#include "document/document.h"
#include "document/document_stream.h"
#include "fuzz.h"
#include "policy/policy_from.h"

using namespace topoguard;

FUZZ_TARGET {
  std::size_t at = 0;
  DocumentStream stream(
      [&](char* buffer, std::size_t room) {
        const std::size_t taken = std::min(room, size - at);
        if (taken > 0) std::memcpy(buffer, data + at, taken);
        at += taken;
        return taken;
      },
      std::size_t{1} << 16);
  Comparison comparison(true);
  while (const auto document = stream.next()) {
    const auto read = read_snapshot(*document, "input");
    if (read.host)
      comparison.add(host_name(*read.host, "input"), *read.host, decide(*read.host, policy_from(*read.host)));
  }
  comparison.finish();
  return 0;
}
