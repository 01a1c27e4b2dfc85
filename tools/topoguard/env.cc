// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "command.h"
#include "io.h"
#include "report/env_text.h"
#include "report/log_block.h"

namespace topoguard::cli {
namespace {

struct Options {
  std::string input, format = "shell";
  bool json = false;
};

int env(const Options& options) {
  auto host = load_host(options.input);
  if (!host) return kBadInput;
  const Decided decided = decide_for(std::move(*host));
  const std::string text = env_text(decided.decision.env, options.json ? EnvFormat::json : *env_format(options.format));
  if (!write_text(text)) return kBadInput;
  for (const Finding& finding : decided.decision.findings)
    if (finding.severity == Severity::error) complain(finding_line(finding));
  return status_of(decided.decision.findings);
}

}  // namespace

void add_env(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("env", "What topoguard would set on this host, for a launcher or a file");
  command->add_option("--format", options->format, "shell, docker, kubernetes, slurm or nccl-conf")
      ->check(CLI::IsMember({"shell", "docker", "kubernetes", "slurm", "nccl-conf"}));
  command->add_option("--snapshot", options->input, "A recorded host instead of this one (- is standard input)");
  command->add_flag("--json", options->json, "As a JSON object");
  command->callback([&action, options] { action = [options] { return env(*options); }; });
}

}  // namespace topoguard::cli
