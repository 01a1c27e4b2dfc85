// SPDX-License-Identifier: Apache-2.0
#include "import/import.h"

#include <memory>

#include "command.h"
#include "document/document.h"
#include "document/printable.h"
#include "io.h"
#include "nccl_rules/release.h"

namespace topoguard::cli {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string output, nccl, hostname;
  bool pretty = false, json = false;
};

int import_files(const Options& options) {
  if (!options.nccl.empty() && !NcclRelease::parse(options.nccl)) {
    complain("--nccl: expected a release such as 2.28.9, found \"" + printable(options.nccl, 60) + "\"");
    return kBadInput;
  }
  HostSnapshot host;
  bool skipped = false;
  for (const std::string& file : options.files) {
    const auto text = read_file(file, std::size_t{16} << 20);
    if (!text) return kBadInput;
    const std::string name = shown_name(file);
    const auto kind = paste_kind(*text);
    if (!kind) {
      complain(printable(name, 400) +
               ":1: expected output of `ip -d -j addr`, `ip -j route`, `show_gids`, `nvidia-smi topo -m`, or an NCCL "
               "topology file");
      return kBadInput;
    }
    const Imported imported = import_paste(*kind, *text, name, host);
    for (const std::string& problem : imported.problems) complain(problem);
    if (imported.used == 0) {
      if (imported.problems.empty()) complain(printable(name, 400) + ":1: expected at least one entry, found none");
      return kBadInput;
    }
    skipped = skipped || !imported.problems.empty();
  }
  if (!options.nccl.empty()) host.nccl_version = options.nccl;
  if (!options.hostname.empty()) host.system.hostname = options.hostname;
  const bool line = !options.pretty && options.output.empty() && !stdout_is_terminal();
  if (!write_text(write_snapshot(host, line ? Layout::line : Layout::people), options.output)) return kBadInput;
  return skipped ? kWarnings : kClean;
}

}  // namespace

void add_import(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("import", "Make a snapshot of what people paste into bug reports");
  command
      ->add_option("FILE", options->files,
                   "Output of `ip -d -j addr`, `ip -j route`, `show_gids`, `nvidia-smi topo -m`, or an NCCL "
                   "topology file, one each; - is standard input")
      ->required();
  command->add_option("-o,--output", options->output, "Write to this file");
  command->add_option("--nccl", options->nccl, "The NCCL release that it is about, such as 2.28.9");
  command->add_option("--hostname", options->hostname, "The host's name");
  command->add_flag("--pretty", options->pretty, "Indented, also through a pipe");
  command->add_flag("--json", options->json, "The snapshot is JSON anyway");
  command->footer("Exit status: 0, 1 where a part was left out (standard error says which), 3 bad input or usage.");
  command->callback([&action, options] { action = [options] { return import_files(*options); }; });
}

}  // namespace topoguard::cli
