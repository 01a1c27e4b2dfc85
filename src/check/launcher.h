// SPDX-License-Identifier: Apache-2.0
// Who this process is among those that a launcher started, and where they meet. One process per host takes part: where
// the launcher tells local ranks, the others have nothing to do. Pure function of the environment and the options.
//
// Sources: torchrun's elastic_launch (RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, GROUP_RANK, GROUP_WORLD_SIZE,
// TORCHELASTIC_RUN_ID), srun(1) (SLURM_*), mpirun(1) of Open MPI (OMPI_COMM_WORLD_*), the Hydra manual (PMI_RANK,
// PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace topoguard::check {

using EnvLookup = std::function<std::optional<std::string>(std::string_view name)>;

inline constexpr int kDefaultPort = 29511;
inline constexpr int kMostRanks = 65536;

struct LaunchOptions {
  std::string hosts;        ///< --hosts: names or addresses, Slurm's ranges; rank 0 is the first
  std::optional<int> rank;  ///< --rank: position in it; else this host's name is looked for
  std::string rendezvous;   ///< --rendezvous: HOST, HOST:PORT, [V6]:PORT
  std::optional<int> port;
  std::string job;       ///< --job: only processes with the same text meet
  std::string hostname;  ///< this host's name, to find it in the list
};

struct Placement {
  bool takes_part = true;    ///< false: another process of this host does
  int rank = 0;              ///< of the launcher, or of the host where it counts hosts
  int ranks = 1;             ///< the check waits until this many are there
  int stands_for = 1;        ///< ranks of this host that this process stands for
  std::string launcher;      ///< "torchrun", "srun", ...: for messages
  std::string rank_name;     ///< what its rank is called there: "SLURM_NODEID"
  std::string meeting;       ///< name or address of rank 0's host
  std::string meeting_from;  ///< who said so: "MASTER_ADDR"
  std::uint16_t port = kDefaultPort;
  std::string job;                 ///< tells jobs apart that meet on one host; no secret
  std::vector<std::string> hosts;  ///< by rank, where the launcher tells; else empty
};

struct PlacementResult {
  std::optional<Placement> placement;
  std::string error;  ///< where there is none: one line for people
};

/// Asked in this order: --hosts, RANK and WORLD_SIZE, Open MPI, srun, PMI.
///
/// The port is --port, that of --rendezvous, MASTER_PORT + 1 (the launcher's own store may hold MASTER_PORT), or
/// kDefaultPort.
PlacementResult find_placement(const LaunchOptions& options, const EnvLookup& env);

}  // namespace topoguard::check
