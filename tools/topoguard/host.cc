// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "check/nccl_here.h"
#include "command.h"
#include "core/session.h"
#include "decide/decide.h"
#include "document/document.h"
#include "document/printable.h"
#include "host/process_env.h"
#include "io.h"
#include "policy/policy_from.h"

namespace topoguard::cli {

std::optional<std::string> release_here(const std::string& libnccl) {
  const auto path = libnccl.empty() ? check::find_libnccl(Sources(), live_variable("LD_LIBRARY_PATH").value_or(""))
                                    : std::optional(libnccl);
  auto release = path ? check::libnccl_release(*path) : std::nullopt;
  if (!libnccl.empty() && !release) complain("--libnccl: no NCCL release is seen in " + printable(libnccl, 300));
  return release;
}

std::optional<HostSnapshot> load_host(const std::string& file, const std::string& libnccl) {
  if (file.empty()) {
    CollectOptions options;
    options.front_end = FrontEnd::tool;
    options.may_ask_nvml = true;
    options.may_read_pci_config = true;
    options.may_resolve_names = true;
    options.nccl_version = release_here(libnccl);
    return look_at_host(Sources(), options);
  }
  const auto text = read_file(file);
  if (!text) return std::nullopt;
  ReadSnapshot read = read_snapshot(*text, shown_name(file));
  if (!read.host) complain(read.error);
  return std::move(read.host);
}

Decided decide_for(HostSnapshot host) {
  Decided out;
  out.host = std::move(host);
  out.policy = policy_from(out.host);
  out.decision = decide(out.host, out.policy);
  for (const Finding& problem : out.policy.problems) {
    const bool there = std::any_of(
        out.decision.findings.begin(), out.decision.findings.end(),
        [&](const Finding& finding) { return finding.code == problem.code && finding.message == problem.message; });
    if (!there) out.decision.findings.push_back(problem);
  }
  return out;
}

Status status_of(const std::vector<Finding>& findings) {
  Status status = kClean;
  for (const Finding& finding : findings) {
    if (finding.severity == Severity::error) return kErrors;
    if (finding.severity == Severity::warning) status = kWarnings;
  }
  return status;
}

}  // namespace topoguard::cli
