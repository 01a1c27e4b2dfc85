// SPDX-License-Identifier: Apache-2.0
// Name lists of NCCL_SOCKET_IFNAME and NCCL_IB_HCA, lists of hosts and CPUs, addresses.
#include "check/nodelist.h"
#include "fuzz.h"
#include "nccl_rules/name_list.h"
#include "topoguard/address.h"
#include "topoguard/cpu_set.h"

using namespace topoguard;

FUZZ_TARGET {
  const auto text = fuzz::text_of(data, size);
  const auto list = NameList::parse(text);
  fuzz::require(list.entries.size() <= 16, "NCCL's array has 16 places");
  for (const auto& entry : list.entries) fuzz::require(list.lists(entry.name, entry.port), "a list lists its entries");
  if (const auto hosts = check::expand_nodelist(text))
    fuzz::require(hosts->size() <= check::kMostHosts, "lists of hosts are bounded");
  if (const auto cpus = CpuSet::parse(text)) fuzz::require(CpuSet::parse(cpus->text()) == cpus, "CPUs read as written");
  CpuSet::parse_mask(text);
  if (const auto address = IpAddress::parse(text))
    fuzz::require(IpAddress::parse(address->text()) == address, "addresses read as written");
  Prefix::parse(text);
  Gid::parse(text);
  return 0;
}
