// SPDX-License-Identifier: Apache-2.0
#include "compare/compare.h"

#include <memory>

#include "command.h"
#include "compare/compare_json.h"
#include "document/document.h"
#include "io.h"
#include "report/compare_text.h"

namespace topoguard::cli {
namespace {

struct Options {
  std::vector<std::string> files;
  bool json = false, all = false, verbose = false;
};

bool add(Comparison& comparison, const std::string& text, const std::string& name) {
  ReadSnapshot read = read_snapshot(text, name);
  if (!read.host) {
    complain(read.error);
    return false;
  }
  const Decided decided = decide_for(std::move(*read.host));
  comparison.add(host_name(decided.host, name), decided.host, decided.decision);
  return true;
}

int compare(const Options& options) {
  Comparison comparison(options.all);
  for (const std::string& file : options.files) {
    const bool read = each_document(file, [&](const std::string& text, int number) {
      const bool only = number == 1 && file != "-";
      return add(comparison, text, only ? file : shown_name(file) + ", document " + std::to_string(number));
    });
    if (!read) return kBadInput;
  }
  const CompareResult result = comparison.finish();
  const std::string text =
      options.json ? write_comparison(result) : compare_text(result, {stdout_takes_colour(), options.verbose});
  if (!write_text(text)) return kBadInput;
  std::vector<Finding> findings;
  for (const auto* list : {&result.findings, &result.own})
    for (const HostsFinding& item : *list) findings.push_back(item.finding);
  return status_of(findings);
}

}  // namespace

void add_compare(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("compare", "What differs between hosts and would hang or slow a job");
  command->add_option("FILE", options->files, "Hosts' documents; - reads many from standard input")->required();
  command->add_flag("--json", options->json, "As one JSON object");
  command->add_flag("--all", options->all, "Each host's own findings as well");
  command->add_flag("-v,--verbose", options->verbose, "Name every host");
  command->footer("Example: srun --ntasks-per-node=1 topoguard snapshot | topoguard compare -\n\n" + app.get_footer());
  command->callback([&action, options] { action = [options] { return compare(*options); }; });
}

}  // namespace topoguard::cli
