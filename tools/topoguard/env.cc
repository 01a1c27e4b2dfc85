// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "command.h"
#include "io.h"
#include "report/env_text.h"
#include "report/log_block.h"
#include "report/phrases.h"

namespace topoguard::cli {
namespace {

struct Options {
  std::string input, libnccl, format = "shell";
  bool json = false;
};

int env(const Options& options) {
  auto host = load_host(options.input, options.libnccl);
  if (!host) return kBadInput;
  const Decided decided = decide_for(std::move(*host));
  // What a job would get: in the modes observe and off that is nothing.
  std::map<std::string, std::string> variables;
  if (decided.policy.mode == Mode::enforce)
    variables = decided.decision.env;
  else if (!decided.decision.env.empty())
    complain("in mode " + mode_phrase(decided.policy) + " nothing is set; in mode enforce it would be " +
             variables_phrase(decided.decision.env));
  if (!write_text(env_text(variables, options.json ? EnvFormat::json : *env_format(options.format)))) return kBadInput;
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
  command->add_option("--snapshot,FILE", options->input, "A recorded host instead of this one (- is standard input)");
  command->add_option("--libnccl", options->libnccl, kLibncclHelp);
  command->add_flag("--json", options->json, "As a JSON object");
  command->callback([&action, options] { action = [options] { return env(*options); }; });
}

}  // namespace topoguard::cli
