// SPDX-License-Identifier: Apache-2.0
// What a stranger or a peer sends to a process of `topoguard check`: frames, and the JSON in them. The first byte says
// how the bytes are cut into reads.
#include "check/frame.h"
#include "check/messages.h"
#include "fuzz.h"

using namespace topoguard;

namespace {

void read_one(std::string_view body) {
  const auto read = check::read_message(body, check::kPlanLimit);
  if (!read.message) {
    fuzz::require(!read.error.empty() && fuzz::is_printable(read.error), "a refusal is one printable line");
    return;
  }
  const auto written = check::write_message(*read.message);
  const auto again = check::read_message(written, check::kPlanLimit * 2);
  fuzz::require(again.message.has_value(), "what is written can be read");
  fuzz::require(check::write_message(*again.message) == written, "and is the same");
}

}  // namespace

FUZZ_TARGET {
  if (size == 0) return 0;
  auto rest = fuzz::text_of(data + 1, size - 1);
  read_one(rest);
  check::FrameReader reader(check::kHelloLimit);
  const std::size_t step = data[0] + std::size_t{1};
  while (!rest.empty()) {
    reader.add(rest.substr(0, step));
    while (const auto body = reader.next()) read_one(*body);
    rest.remove_prefix(std::min(step, rest.size()));
  }
  return 0;
}
