// SPDX-License-Identifier: Apache-2.0
// A host document from somebody else: it is refused with one line, or decided, and what is written of it reads the
// same.
#include "decide/decide.h"
#include "document/document.h"
#include "fuzz.h"
#include "policy/policy_from.h"

using namespace topoguard;

FUZZ_TARGET {
  const auto read = read_snapshot(fuzz::text_of(data, size), "input");
  if (!read.host) {
    fuzz::require(!read.error.empty() && fuzz::is_printable(read.error), "a refusal is one printable line");
    return 0;
  }
  const std::string written = write_snapshot(*read.host, Layout::line);
  const auto again = read_snapshot(written, "written");
  fuzz::require(again.host.has_value(), "what is written can be read");
  fuzz::require(write_snapshot(*again.host, Layout::line) == written, "and is the same");
  const Decision decision = decide(*read.host, policy_from(*read.host));
  for (const auto& [name, value] : decision.env)
    fuzz::require(read.host->env.count(name) == 0, "the user's own variables are never set");
  write_decision(decision);
  return 0;
}
