// SPDX-License-Identifier: Apache-2.0
// What the commands of the topoguard program share. Each add_X declares one command's options and its action.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "topoguard/decision.h"
#include "topoguard/policy.h"
#include "topoguard/snapshot.h"

namespace topoguard::cli {

enum Status : int { kClean = 0, kWarnings = 1, kErrors = 2, kBadInput = 3 };

/// The chosen command's action; its result is the exit status.
using Action = std::function<int()>;

void add_doctor(CLI::App& app, Action& action);  ///< also what runs where no command is named
void add_snapshot(CLI::App& app, Action& action);
void add_decide(CLI::App& app, Action& action);
void add_env(CLI::App& app, Action& action);
void add_compare(CLI::App& app, Action& action);
void add_check(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_import(CLI::App& app, Action& action);
void add_exec(CLI::App& app, Action& action);
void add_settings(CLI::App& app, Action& action);
void add_completion(CLI::App& app, Action& action);  ///< of what `app` has when the command is run

/// A host together with what is decided for it.
struct Decided {
  HostSnapshot host;
  Policy policy;
  Decision decision;  ///< its findings include policy.problems
};
Decided decide_for(HostSnapshot host);

/// The recorded host in file ("-": standard input), or this machine where file is empty, for the NCCL that
/// release_here() sees. Empty after an error line on stderr.
std::optional<HostSnapshot> load_host(const std::string& file, const std::string& libnccl);

/// The release of the libnccl.so.2 named, with a line on stderr where none is seen in it; where it is empty, of the one
/// that the linker would find.
std::optional<std::string> release_here(const std::string& libnccl);
inline constexpr const char* kLibncclHelp = "The libnccl.so.2 that the job loads, where the linker would not find it";

/// By the worst finding.
Status status_of(const std::vector<Finding>& findings);

}  // namespace topoguard::cli
