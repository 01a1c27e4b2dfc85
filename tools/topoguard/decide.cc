// SPDX-License-Identifier: Apache-2.0
#include "decide/decide.h"

#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "decide/findings.h"
#include "document/document.h"
#include "document/printable.h"
#include "io.h"
#include "report/doctor.h"
#include "report/explain.h"

namespace topoguard::cli {
namespace {

struct Options {
  std::string input, explain, libnccl;
  bool json = false, list_codes = false, verbose = false;
};

std::string codes_as_json() {
  nlohmann::ordered_json out = {{"findings", nlohmann::ordered_json::array()},
                                {"reasons", nlohmann::ordered_json::array()}};
  for (const FindingRow& row : finding_codes())
    out["findings"].push_back(
        {{"code", row.code}, {"severity", severity_name(row.severity)}, {"when", row.when}, {"remedy", row.remedy}});
  for (const ReasonRow& row : reason_codes())
    out["reasons"].push_back({{"reason", row.reason}, {"meaning", row.meaning}});
  return out.dump(2) + "\n";
}

int explain(const Options& options, const Decided& decided) {
  bool known = false;
  for (const DeviceVerdict& device : decided.decision.devices) known = known || device.name == options.explain;
  if (!known) {
    std::string names;
    for (const DeviceVerdict& device : decided.decision.devices) names += (names.empty() ? "" : ", ") + device.name;
    complain("--explain: expected one of this host's devices (" + printable(names, 300) + "), found \"" +
             printable(options.explain, 60) + "\"");
    return kBadInput;
  }
  const std::string text = options.json
                               ? explanation_json(decided.decision, options.explain)
                               : explanation_text(decided.decision, options.explain, {stdout_takes_colour(), true});
  return write_text(text) ? status_of(decided.decision.findings) : kBadInput;
}

int decide_command(const Options& options) {
  if (options.list_codes) return write_text(options.json ? codes_as_json() : list_codes()) ? kClean : kBadInput;
  auto host = load_host(options.input, options.libnccl);
  if (!host) return kBadInput;
  const Decided decided = decide_for(std::move(*host));
  if (!options.explain.empty()) return explain(options, decided);
  const std::string text = options.json ? write_decision(decided.decision)
                                        : doctor_text(decided.host, decided.policy, decided.decision,
                                                      {stdout_takes_colour(), options.verbose});
  return write_text(text) ? status_of(decided.decision.findings) : kBadInput;
}

}  // namespace

void add_decide(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("decide", "Decide for a recorded host, or for this one");
  command->add_option("--snapshot,FILE", options->input,
                      "A recorded host instead of this one, from `topoguard snapshot` (- is standard input)");
  command->add_option("--libnccl", options->libnccl, kLibncclHelp);
  command->add_flag("--json", options->json, "Write the decision document");
  command->add_option("--explain", options->explain,
                      "Show the rules that matched this device (a netdev or an HCA), in order");
  command->add_flag("--list-codes", options->list_codes, "List every finding code and reason, and what it means");
  command->add_flag("-v,--verbose", options->verbose, "Every device's detail, and what could not be read");
  command->callback([&action, options] { action = [options] { return decide_command(*options); }; });
}

}  // namespace topoguard::cli
