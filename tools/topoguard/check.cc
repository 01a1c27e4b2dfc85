// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <chrono>
#include <memory>

#include "check/check_text.h"
#include "check/run.h"
#include "command.h"
#include "core/session.h"
#include "host/process_env.h"
#include "io.h"
#include "steer/provenance.h"

namespace topoguard::cli {
namespace {

struct Options {
  check::LaunchOptions launch;
  std::string libnccl;
  double timeout = 10;
  bool json = false, verbose = false;
};

std::string own_name() {
  char name[256] = "";
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

// What a job would decide here, with the NCCL that it would load.
Decided decide_as_a_job(const Options& options) {
  const Sources sources;
  CollectOptions how;
  how.front_end = FrontEnd::tool;
  how.may_resolve_names = true;
  how.nccl_version = release_here(options.libnccl);
  return decide_for(look_at_host(sources, how));
}

int run_check(Options options) {
  options.launch.hostname = own_name();
  const check::PlacementResult placed = check::find_placement(options.launch, live_variable);
  if (!placed.placement) {
    complain(placed.error);
    return kBadInput;
  }
  const check::Placement& placement = *placed.placement;
  if (!placement.takes_part) {
    if (options.verbose) complain("check: another process of this host takes part");
    return kClean;
  }
  const Decided decided = decide_as_a_job(options);
  const std::chrono::milliseconds whole(static_cast<long>(options.timeout * 1000));
  const check::RunResult result =
      check::run(placement, decided.host, decided.decision, host_identity(Sources()), whole);
  const std::string who = "check, rank " + std::to_string(placement.rank) + ": ";
  for (const std::string& error : result.errors) complain(who + error);
  if (!result.gathered) {
    if (options.verbose && result.errors.empty()) complain(who + "done; rank 0 has the result");
    return result.status;
  }
  const std::string text =
      options.json ? check::check_json(*result.gathered, result.findings)
                   : check::check_text(*result.gathered, result.findings, {stdout_takes_colour(), options.verbose});
  return write_text(text) ? result.status : kBadInput;
}

}  // namespace

void add_check(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("check", "Try the connections that a job would make, between hosts that a launcher started");
  command->add_option("--hosts", options->launch.hosts,
                      "Start it by hand on each of these hosts, rank 0 first: a,b,c or node[01-16]");
  command->add_option("--rank", options->launch.rank, "This host's place in --hosts; else its name is looked for")
      ->check(CLI::Range(0, check::kMostRanks - 1));
  command->add_option("--rendezvous", options->launch.rendezvous, "Rank 0's address: HOST or HOST:PORT");
  command
      ->add_option("--port", options->launch.port,
                   "Where rank 0 listens; MASTER_PORT + 1, else " + std::to_string(check::kDefaultPort))
      ->check(CLI::Range(1, 65535));
  command->add_option("--job", options->launch.job,
                      "Only processes with the same text meet; else the launcher's job id");
  command->add_option("--libnccl", options->libnccl, kLibncclHelp);
  command->add_option("--timeout", options->timeout, "Seconds that it may take, whoever is away (default 10)")
      ->check(CLI::Range(2.0, 3600.0));
  command->add_flag("--json", options->json, "Write the document topoguard.check/1");
  command->add_flag("-v,--verbose", options->verbose,
                    "Every host and connection; the other ranks say that they are done");
  command->callback([&action, options] { action = [options] { return run_check(*options); }; });
}

}  // namespace topoguard::cli
