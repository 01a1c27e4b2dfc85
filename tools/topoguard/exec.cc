// SPDX-License-Identifier: Apache-2.0
// `topoguard exec -- COMMAND`: the decision as environment, the CPUs of the process's GPU, then the command takes this
// process's place, so that its exit status and its signals stay its own.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "affinity/affinity.h"
#include "command.h"
#include "core/session.h"
#include "document/printable.h"
#include "host/environment.h"
#include "host/file.h"
#include "host/library_path.h"
#include "io.h"
#include "launch/gpu_choice.h"
#include "launch/gpu_uuids.h"
#include "launch/launch_plan.h"
#include "library_folder.h"
#include "report/log_block.h"
#include "report/phrases.h"
#include "steer/provenance.h"

namespace topoguard::cli {
namespace {

// As shells, env(1) and timeout(1) have it.
enum ExecStatus : int { kCannotRun = 126, kNotFound = 127 };

struct Options {
  std::string gpu = "auto";
  std::string libraries, libnccl;
  bool preload = false;
  bool verbose = false;
  std::vector<std::string> command;
};

bool in_search_path(const Sources& sources, const std::string& folder, const std::string& ld_library_path) {
  const auto found = host::LibraryPath(sources, ld_library_path).find(kNetPlugin);
  return !folder.empty() && !found.empty() && host::real_path(found.front()) == host::real_path(folder + kNetPlugin);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

int run(Options options) {
  const Sources sources;
  const auto entries = host::environment_entries(sources);
  UserEnvironment inherited;
  const auto user = user_entries(entries, &inherited);
  const EnvLookup env = [&user](std::string_view name) { return host::variable(user, name); };

  CollectOptions look;
  look.front_end = FrontEnd::exec;
  look.may_ask_nvml = true;
  look.may_resolve_names = true;
  look.nccl_version = release_here(options.libnccl);
  const Decided decided = decide_for(look_at_host(sources, look));

  LaunchRequest request;
  request.library_folder = library_folder(options.libraries);
  request.in_search_path = in_search_path(sources, request.library_folder, env("LD_LIBRARY_PATH").value_or(""));
  // ld.so(8): blanks and colons separate the list, and nothing quotes them.
  request.preload = options.preload && request.library_folder.find_first_of(": ") == std::string::npos;
  if (options.preload && !request.preload && decided.policy.mode != Mode::off)
    complain("LD_PRELOAD cannot hold a path with a blank or a colon, as " + printable(request.library_folder, 300) +
             " is one: the command runs without libtopoguard.so; --libraries names another folder");
  request.ld_preload = env("LD_PRELOAD").value_or("");
  request.identity = host_identity(sources);
  request.inherited = inherited.ours;
  if (request.library_folder.empty() && decided.policy.mode != Mode::off)
    complain(std::string("no ") + kNetPlugin +
             " beside this program: the command runs with topoguard's variables alone; "
             "--libraries says where the plugins are");

  const LaunchPlan plan = launch_plan(decided.host, decided.policy, decided.decision, request);

  AffinityRequest affinity;
  affinity.own_thread = true;
  const ChosenGpu gpu = choose_gpu(options.gpu, env, decided.host,
                                   needs_uuids(options.gpu, env) ? gpu_uuids(sources) : std::vector<GpuUuid>());
  affinity.gpu = gpu.pci;
  const bool named = options.gpu != "auto";
  if (named) affinity.local_ranks = 2;  // whoever names one GPU has others for other ranks
  if (named && !gpu.pci) complain(gpu.why + ": CPUs are left alone");
  const AffinityOutcome bound = bind_for_communicator(decided.host, decided.decision, decided.policy, affinity);
  if (options.verbose) {
    for (const Finding& problem : decided.policy.problems) complain(finding_line(problem));
    if (decided.host.nccl_version) complain("decides by the rules of NCCL " + *decided.host.nccl_version);
    if (plan.set.empty()) complain("sets nothing, in mode " + mode_phrase(decided.policy));
    for (const auto& [name, value] : plan.set) complain("sets " + name + "=" + value);
    for (const std::string& name : plan.unset) complain("unsets " + name);
    complain(gpu.pci ? fmt::format("{} (GPU by {})", bound.text, gpu.why) : fmt::format("{}; {}", bound.text, gpu.why));
  }

  std::vector<std::string> environment = apply_plan(entries, plan);
  auto arguments = pointers(options.command);
  auto variables = pointers(environment);
  execvpe(arguments[0], arguments.data(), variables.data());
  const int error = errno;
  complain(fmt::format("cannot run {}: {}", options.command.front(), host::error_text(error)));
  return error == ENOENT ? kNotFound : kCannotRun;
}

}  // namespace

void add_exec(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("exec", "Run a command with the decision applied: topoguard exec -- COMMAND");
  command->add_option(
      "--gpu", options->gpu,
      "The GPU that the command will use: its number as CUDA counts, UUID or PCI id; auto: from "
      "LOCAL_RANK, SLURM_LOCALID, OMPI_COMM_WORLD_LOCAL_RANK, MPI_LOCALRANKID and CUDA_VISIBLE_DEVICES");
  command->add_flag("--preload", options->preload, "Put libtopoguard.so first into LD_PRELOAD");
  command->add_option("--libraries", options->libraries, "Folder of topoguard's libraries");
  command->add_option("--libnccl", options->libnccl, kLibncclHelp);
  command->add_flag("-v,--verbose", options->verbose, "Say on stderr what is set and bound, and why");
  command->add_option("command", options->command, "What to run, after --")->required();
  command->footer("Exit status: that of COMMAND; 126 where it cannot be run, 127 where it is not there, 3 bad usage.");
  command->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace topoguard::cli
