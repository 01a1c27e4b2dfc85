// SPDX-License-Identifier: Apache-2.0
#include "report/doctor.h"

#include <memory>

#include "command.h"
#include "document/document.h"
#include "io.h"

namespace topoguard::cli {
namespace {

struct Options {
  std::string input, libnccl;
  bool json = false, verbose = false;
};

int doctor(const Options& options) {
  auto host = load_host(options.input, options.libnccl);
  if (!host) return kBadInput;
  const Decided decided = decide_for(std::move(*host));
  const std::string text = options.json ? write_decision(decided.decision)
                                        : doctor_text(decided.host, decided.policy, decided.decision,
                                                      {stdout_takes_colour(), options.verbose});
  return write_text(text) ? status_of(decided.decision.findings) : kBadInput;
}

void declare(CLI::App& app, const std::shared_ptr<Options>& options) {
  app.add_flag("--json", options->json, "Write the decision document");
  app.add_flag("-v,--verbose", options->verbose, "Every device's detail, and what could not be read");
  app.add_option("--libnccl", options->libnccl, kLibncclHelp);
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  declare(app, options);
  CLI::App* command =
      app.add_subcommand("doctor", "This host at a glance: devices, reasons, problems, remedies (the default)");
  declare(*command, options);
  command->add_option("--snapshot,FILE", options->input, "A recorded host instead of this one (- is standard input)");
  // where another command is named its callback comes later and wins
  action = [options] { return doctor(*options); };
}

}  // namespace topoguard::cli
