// SPDX-License-Identifier: Apache-2.0
// The topoguard command: see docs/, or `topoguard --help`.
#include <exception>
#include <iostream>
#include <new>

#include "command.h"
#include "document/printable.h"
#include "io.h"
#include "policy/settings.h"

using namespace topoguard;

namespace {

int run(int argc, char** argv) {
  CLI::App app("Shows and decides which network devices NCCL should use on this host, and why.", "topoguard");
  app.set_version_flag("--version", "topoguard " TOPOGUARD_VERSION);
  app.require_subcommand(0, 1);
  app.failure_message([&app](const CLI::App*, const CLI::Error& error) {
    const auto commands = app.get_subcommands();
    return "topoguard: " + printable(error.what(), 300) + "; `topoguard " +
           (commands.empty() ? "" : commands.front()->get_name() + " ") + "--help` shows what there is\n";
  });
  const std::string status = "Exit status: 0 clean, 1 warnings, 2 errors found, 3 bad input or usage.\n";
  app.footer(status + "`topoguard settings` lists the TOPOGUARD_* settings.");  // each command's, unless it has its own
  cli::Action action;
  cli::add_doctor(app, action);
  cli::add_snapshot(app, action);
  cli::add_decide(app, action);
  cli::add_env(app, action);
  cli::add_compare(app, action);
  cli::add_check(app, action);
  cli::add_bench(app, action);
  cli::add_import(app, action);
  cli::add_exec(app, action);
  cli::add_settings(app, action);
  cli::add_completion(app, action);
  app.footer(status + "\nSettings, from the environment or the settings file:\n" +
             settings_table(SettingsFormat::text));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool fine = app.exit(error) == 0;
    if (std::cout.flush()) return fine ? cli::kClean : cli::kBadInput;
    cli::complain("standard output cannot be written");
    return cli::kBadInput;
  }
  return action ? action() : cli::kBadInput;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    cli::complain("not enough memory; does a limit of the shell (ulimit -v) or of the container bind it?");
  } catch (const std::exception& error) {
    cli::complain(printable(error.what(), 300));
  }
  return cli::kBadInput;
}
