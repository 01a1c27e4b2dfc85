// SPDX-License-Identifier: Apache-2.0
// Every finding code and every reason that topoguard can give, in one table each. The codes of host-snapshot.md are
// fixed; the others are ours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "topoguard/decision.h"

namespace topoguard {

struct FindingRow {
  std::string_view code;
  Severity severity;
  std::string_view when;    ///< one line for --list-codes
  std::string_view remedy;  ///< what to do, for a person who does not know the term; "" where the finding must say it
};

struct ReasonRow {
  std::string_view reason;
  std::string_view meaning;  ///< one line for --list-codes
};

const std::vector<FindingRow>& finding_codes();
const std::vector<ReasonRow>& reason_codes();
const FindingRow* finding_row(std::string_view code);
const ReasonRow* reason_row(std::string_view reason);

/// A finding of the table's severity, in printable words whatever they are made of; `remedy` empty takes the table's. A
/// code that is not in the table is a programming error and gives a finding "internal-error".
Finding make_finding(std::string_view code, std::string device, std::string message, std::string remedy = "");

/// Every finding code and reason with its meaning, one a line, aligned: what `decide --list-codes` prints.
std::string list_codes();

}  // namespace topoguard
