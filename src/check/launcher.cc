// SPDX-License-Identifier: Apache-2.0
#include "check/launcher.h"

#include <charconv>

#include "check/nodelist.h"
#include "document/printable.h"
#include "topoguard/address.h"

namespace topoguard::check {
namespace {

struct Problem {
  std::string text;
};

std::optional<int> parse(std::string_view text, int low, int high) {
  int value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
  if (value < low || value > high) return std::nullopt;
  return value;
}

class Reader {
 public:
  explicit Reader(const EnvLookup& env) : env_(env) {}

  std::optional<std::string> text(std::string_view name) const {
    auto value = env_(name);
    if (value && value->empty()) return std::nullopt;
    return value;
  }
  bool has(std::string_view name) const { return text(name).has_value(); }
  std::optional<int> number(const std::string& name, int low, int high) const {
    const auto value = text(name);
    if (!value) return std::nullopt;
    const auto parsed = parse(*value, low, high);
    if (!parsed)
      throw Problem{name + "=" + printable(*value, 40) + ": expected a number from " + std::to_string(low) + " to " +
                    std::to_string(high)};
    return parsed;
  }

 private:
  const EnvLookup& env_;
};

struct Names {
  const char *rank, *size, *local_rank, *local_size;
};

void take_ranks(const Reader& env, const Names& names, Placement& out) {
  out.ranks = env.number(names.size, 1, kMostRanks).value_or(1);
  out.rank = env.number(names.rank, 0, out.ranks - 1).value_or(0);
  out.rank_name = names.rank;
  const auto local = env.number(names.local_rank, 0, kMostRanks);
  const auto size = env.number(names.local_size, 1, kMostRanks);
  if (local && size) {
    out.takes_part = *local == 0;
    out.stands_for = *size;
  }
}

void take_torchrun(const Reader& env, Placement& out) {
  out.launcher = env.has("TORCHELASTIC_RUN_ID") ? "torchrun" : "RANK and WORLD_SIZE";
  if (const auto id = env.text("TORCHELASTIC_RUN_ID")) out.job = "torchrun:" + *id;
  if (env.has("GROUP_RANK") && env.has("GROUP_WORLD_SIZE") && env.has("LOCAL_RANK")) {
    take_ranks(env, {"GROUP_RANK", "GROUP_WORLD_SIZE", "-", "-"}, out);
    out.takes_part = env.number("LOCAL_RANK", 0, kMostRanks) == 0;
    return;
  }
  take_ranks(env, {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"}, out);
}

void take_hosts(const std::string& list, Placement& out) {
  auto hosts = expand_nodelist(list);
  if (!hosts) throw Problem{"\"" + printable(list, 60) + "\" is not a list of hosts such as node1,node[02-08]"};
  out.hosts = std::move(*hosts);
}

void take_slurm(const Reader& env, Placement& out) {
  out.launcher = "srun";
  if (const auto id = env.text("SLURM_JOB_ID")) out.job = "slurm:" + *id + "." + env.text("SLURM_STEP_ID").value_or("");
  const auto list = env.has("SLURM_STEP_NODELIST") ? env.text("SLURM_STEP_NODELIST") : env.text("SLURM_JOB_NODELIST");
  if (list) take_hosts(*list, out);
  const char* nodes = env.has("SLURM_STEP_NUM_NODES") ? "SLURM_STEP_NUM_NODES" : "SLURM_NNODES";
  if (env.has("SLURM_NODEID") && env.has("SLURM_LOCALID") && env.has(nodes)) {
    take_ranks(env, {"SLURM_NODEID", nodes, "-", "-"}, out);
    out.takes_part = env.number("SLURM_LOCALID", 0, kMostRanks) == 0;
  } else {
    take_ranks(env, {"SLURM_PROCID", "SLURM_NTASKS", "-", "-"}, out);
  }
  if (static_cast<int>(out.hosts.size()) != out.ranks && out.hosts.size() > 1) out.hosts.resize(1);
  // Not SLURM_LAUNCH_NODE_IPADDR: that is where srun was typed, often a login node.
  if (!out.hosts.empty()) out.meeting = out.hosts.front();
  out.meeting_from = env.has("SLURM_STEP_NODELIST") ? "SLURM_STEP_NODELIST" : "SLURM_JOB_NODELIST";
}

bool same_host(std::string_view a, std::string_view b) {
  return !a.empty() && (a == b || a.substr(0, a.find('.')) == b.substr(0, b.find('.')));
}

void take_list(const LaunchOptions& options, Placement& out) {
  out.launcher = "--hosts";
  out.rank_name = "--rank";
  take_hosts(options.hosts, out);
  out.ranks = static_cast<int>(out.hosts.size());
  out.meeting = out.hosts.front();
  out.meeting_from = "--hosts";
  if (options.rank) {
    out.rank = *options.rank;
  } else {
    int found = 0;
    for (int i = 0; i < out.ranks; ++i) {
      if (!same_host(out.hosts[static_cast<std::size_t>(i)], options.hostname)) continue;
      out.rank = i;
      ++found;
    }
    if (found != 1)
      throw Problem{"--hosts: this host's name, " + printable(options.hostname, 60) +
                    (found == 0 ? ", is not in the list" : ", is in the list more than once") +
                    "; say which one it is with --rank N (0 is the first)"};
  }
  if (out.rank < 0 || out.rank >= out.ranks)
    throw Problem{"--rank: expected 0 to " + std::to_string(out.ranks - 1) + ", found " + std::to_string(out.rank)};
}

// "host", "host:port", "[v6]:port", or a bare IPv6 address.
void take_rendezvous(const std::string& text, Placement& out) {
  out.meeting_from = "--rendezvous";
  std::string host = text, port;
  if (!text.empty() && text.front() == '[' && text.find(']') != text.npos) {
    host = text.substr(1, text.find(']') - 1);
    port = text.substr(text.find(']') + 1);
  } else if (text.find(':') != text.npos && text.find(':') == text.rfind(':')) {
    host = text.substr(0, text.find(':'));
    port = text.substr(text.find(':'));
  }
  const auto number = port.empty() ? std::optional(0) : parse(std::string_view(port).substr(1), 1, 65535);
  if (host.empty() || !number || (!port.empty() && port.front() != ':'))
    throw Problem{"--rendezvous: expected HOST or HOST:PORT, found \"" + printable(text, 60) + "\""};
  out.meeting = host;
  if (*number != 0) out.port = static_cast<std::uint16_t>(*number);
}

Placement place(const LaunchOptions& options, const Reader& env) {
  Placement out;
  if (!options.hosts.empty()) {
    take_list(options, out);
  } else if (env.has("RANK") && env.has("WORLD_SIZE")) {
    take_torchrun(env, out);
  } else if (env.has("OMPI_COMM_WORLD_RANK")) {
    out.launcher = "mpirun";
    take_ranks(
        env,
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
        out);
    if (const auto id = env.text("PMIX_NAMESPACE")) out.job = "pmix:" + *id;
  } else if (env.has("SLURM_PROCID") && env.has("SLURM_NTASKS")) {
    take_slurm(env, out);
  } else if (env.has("PMI_RANK") && env.has("PMI_SIZE")) {
    out.launcher = "mpiexec";
    take_ranks(env, {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"}, out);
  } else {
    throw Problem{
        "no launcher is seen: neither RANK and WORLD_SIZE, nor OMPI_COMM_WORLD_*, SLURM_* or PMI_*. Start it with the "
        "job's launcher (srun --ntasks-per-node=1 topoguard check), or on each host as topoguard check --hosts a,b,c"};
  }
  if (options.hosts.empty()) {
    if (const auto master = env.text("MASTER_ADDR")) {
      out.meeting = *master;
      out.meeting_from = "MASTER_ADDR";
    }
    if (const auto port = env.number("MASTER_PORT", 1, 65535))
      out.port = static_cast<std::uint16_t>(*port < 65535 ? *port + 1 : *port - 1);
  }
  if (!options.rendezvous.empty()) take_rendezvous(options.rendezvous, out);
  if (options.port) out.port = static_cast<std::uint16_t>(*options.port);
  if (!options.job.empty()) out.job = options.job;
  if (out.meeting.size() > 2 && out.meeting.front() == '[' && out.meeting.back() == ']')
    out.meeting = out.meeting.substr(1, out.meeting.size() - 2);
  if (out.meeting.empty() && out.ranks > out.stands_for && out.rank != 0)
    throw Problem{out.launcher + " does not tell where rank 0 is: set MASTER_ADDR, or use --rendezvous HOST"};
  return out;
}

}  // namespace

PlacementResult find_placement(const LaunchOptions& options, const EnvLookup& env) {
  try {
    return {place(options, Reader(env)), {}};
  } catch (const Problem& problem) {
    return {std::nullopt, problem.text};
  }
}

}  // namespace topoguard::check
