// SPDX-License-Identifier: Apache-2.0
// Reads one host into a HostSnapshot (docs/host-snapshot.md). The only way in to src/host.
//
// Never throws and never fails: a source that is missing, forbidden (seccomp, no /sys, another namespace) or malformed
// leaves its part unknown (an empty optional) and adds one line to HostSnapshot::notes, "SOURCE: what and why".
// In a job process (everything but FrontEnd::tool) it starts no process and no thread, asks no GPU library, opens no
// verbs context, resolves no name beyond the hosts file and reads no PCI config space. No descriptor stays open, all
// are O_CLOEXEC. errno is preserved.
//
// Thread-safety: re-entrant; several threads may collect at the same time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/sources.h"
#include "topoguard/address.h"
#include "topoguard/snapshot.h"

namespace topoguard {

enum class FrontEnd : std::uint8_t { net, env, preload, exec, tool };
std::string_view front_end_name(FrontEnd front_end);  ///< "net", "env", "preload", "exec", "tool"

struct CollectOptions {
  FrontEnd front_end = FrontEnd::net;
  bool may_ask_nvml = false;         ///< GPU names and indices from NVML. The tool only: it initialises a library
  bool may_read_pci_config = false;  ///< ACS state. The tool only: needs root and is slow
  bool may_resolve_names = false;    ///< MASTER_ADDR by the resolver, which can block for seconds. The tool only
  bool try_verbs = true;             ///< open and close each uverbs device, to see whether this process may

  std::optional<std::string> nccl_version;  ///< "2.28.9"
  std::optional<std::string> bootstrap;     ///< interface that NCCL's bootstrap already took
  std::optional<int> gpu;                   ///< index of the GPU that the communicator uses
  std::vector<IpAddress> peers;             ///< in addition to MASTER_ADDR

  /// Path of topoguard's own library, left out of the list of plugins. Found by dladdr where empty.
  std::string own_library;
};

HostSnapshot collect(const Sources& sources, const CollectOptions& options) noexcept;

/// What may change while a job runs, for a second look at a later communicator: links, addresses and the RDMA ports
/// with their GIDs. Everything else is left empty. Cheaper than collect(); the same guarantees.
HostSnapshot collect_drift(const Sources& sources) noexcept;

}  // namespace topoguard
