// SPDX-License-Identifier: Apache-2.0
// /etc/topoguard.conf, and what the policy makes of its values.
#include "fuzz.h"
#include "policy/config_file.h"
#include "policy/policy_from.h"

using namespace topoguard;

FUZZ_TARGET {
  const auto file = parse_config(fuzz::text_of(data, size), "input");
  fuzz::require(file.problems.size() <= 20, "at most 20 problems");
  for (const auto& problem : file.problems) fuzz::require(fuzz::is_printable(problem), "problems are printable");
  HostSnapshot host;
  host.topoguard.config = file.values;
  host.notes = file.problems;
  for (const auto& problem : policy_from(host).problems)
    fuzz::require(fuzz::is_printable(problem.message), "messages are printable");
  return 0;
}
