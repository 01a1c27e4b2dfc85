// SPDX-License-Identifier: Apache-2.0
#include "decide/findings.h"

#include <algorithm>

#include "document/printable.h"

namespace topoguard {

const FindingRow* finding_row(std::string_view code) {
  const auto& table = finding_codes();
  const auto at = std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.code == code; });
  return at == table.end() ? nullptr : &*at;
}

const ReasonRow* reason_row(std::string_view reason) {
  const auto& table = reason_codes();
  const auto at = std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.reason == reason; });
  return at == table.end() ? nullptr : &*at;
}

Finding make_finding(std::string_view code, std::string device, std::string message, std::string remedy) {
  const auto* row = finding_row(code);
  if (!row) {
    message = "no such finding code as " + std::string(code) + ": " + message;
    row = finding_row("internal-error");
  }
  if (remedy.empty()) remedy = std::string(row->remedy);
  // Messages are sentences, wherever they were put together.
  if (!message.empty() && message.back() != '.' && message.back() != '?') message += '.';
  return {row->severity, std::string(row->code), std::move(device), printable(message), printable(remedy)};
}

std::string list_codes() {
  std::size_t width = 0;
  for (const auto& row : finding_codes()) width = std::max(width, row.code.size());
  for (const auto& row : reason_codes()) width = std::max(width, row.reason.size());
  constexpr std::size_t kSeverityWidth = 9;
  const auto pad = [](std::string_view text, std::size_t columns) {
    std::string cell(text);
    cell.resize(std::max(columns, cell.size() + 1), ' ');
    return cell;
  };
  std::string text = "Findings\n";
  for (const auto& row : finding_codes())
    text += "  " + pad(row.code, width + 2) + pad(severity_name(row.severity), kSeverityWidth) + std::string(row.when) +
            "\n";
  text += "\nReasons of devices\n";
  for (const auto& row : reason_codes()) text += "  " + pad(row.reason, width + 2) + std::string(row.meaning) + "\n";
  return text;
}

}  // namespace topoguard
