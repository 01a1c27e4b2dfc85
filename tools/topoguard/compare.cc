// SPDX-License-Identifier: Apache-2.0
#include "compare/compare.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "command.h"
#include "compare/compare_json.h"
#include "document/document.h"
#include "document/document_stream.h"
#include "document/printable.h"
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

bool add_stream(Comparison& comparison) {
  int error = 0;
  DocumentStream stream([&](char* buffer, std::size_t size) -> std::size_t {
    ssize_t count;
    do count = read(STDIN_FILENO, buffer, size);
    while (count < 0 && errno == EINTR);
    if (count < 0) error = errno;
    return count < 0 ? 0 : static_cast<std::size_t>(count);
  });
  int number = 0;
  while (const auto text = stream.next())
    if (!add(comparison, *text, "standard input, document " + std::to_string(++number))) return false;
  if (error != 0) complain(std::string("standard input: cannot be read: ") + std::strerror(error));
  if (error == 0 && number == 0) complain("standard input: expected documents from `topoguard snapshot`, found none");
  return error == 0 && number > 0;
}

int compare(const Options& options) {
  Comparison comparison(options.all);
  for (const std::string& file : options.files) {
    if (file == "-") {
      if (!add_stream(comparison)) return kBadInput;
      continue;
    }
    const auto text = read_file(file);
    if (!text || !add(comparison, *text, file)) return kBadInput;
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
  command->footer("Example: srun topoguard snapshot | topoguard compare -");
  command->callback([&action, options] { action = [options] { return compare(*options); }; });
}

}  // namespace topoguard::cli
