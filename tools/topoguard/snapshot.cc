// SPDX-License-Identifier: Apache-2.0
#include <sys/random.h>

#include <memory>
#include <optional>

#include "command.h"
#include "document/document.h"
#include "document/redact.h"
#include "document/redact_key.h"
#include "io.h"

namespace topoguard::cli {
namespace {

std::optional<RedactKey> random_key() {
  RedactKey::Bytes bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    complain("--redact: the kernel gives no random bytes; name a phrase with --redact-key");
    return std::nullopt;
  }
  return RedactKey(bytes);
}

struct Options {
  std::string input, output, key, libnccl;
  bool redact = false, pretty = false, json = false;
};

int snapshot(const Options& options) {
  auto host = load_host(options.input, options.libnccl);
  if (!host) return kBadInput;
  if (options.redact || !options.key.empty()) {
    const auto key = options.key.empty() ? random_key() : RedactKey::from_phrase(options.key);
    if (!key) return kBadInput;
    host = Redactor(*key, *host).snapshot();
  }
  // Through a pipe one line: a launcher mixes the lines of many hosts.
  const bool people = options.pretty || stdout_is_terminal() || !(options.output.empty() || options.output == "-");
  return write_text(write_snapshot(*host, people ? Layout::people : Layout::line), options.output) ? kClean : kBadInput;
}

}  // namespace

void add_snapshot(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("snapshot", "Write this host as a document, for a bug report, compare or decide");
  command->add_option("--snapshot,FILE", options->input, "A recorded host instead of this one (- is standard input)");
  command->footer("Exit status: 0, or 3 for bad input or usage.");
  command->add_option("--libnccl", options->libnccl, kLibncclHelp);
  command->add_flag("--redact", options->redact,
                    "Replace names and addresses consistently; the decision stays the same");
  command->add_option("--redact-key", options->key,
                      "Redact with this secret phrase: the same on all hosts keeps them comparable");
  command->add_option("-o,--output", options->output, "Write to this file");
  command->add_flag("--pretty", options->pretty, "Indented, also through a pipe");
  command->add_flag("--json", options->json, "The document is JSON anyway");
  command->callback([&action, options] { action = [options] { return snapshot(*options); }; });
}

}  // namespace topoguard::cli
