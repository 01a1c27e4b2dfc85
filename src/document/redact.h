// SPDX-License-Identifier: Apache-2.0
// A snapshot for a public bug report: names and addresses are replaced, and the decision stays the same but for these.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "document/redact_address.h"
#include "document/redact_key.h"
#include "document/redact_name.h"
#include "topoguard/snapshot.h"

namespace topoguard {

/// Host names, unusual device names, addresses, hardware addresses, GIDs, folders of paths and GPU UUIDs change, in
/// every member that may hold them. PCI ids, drivers, kernels, models, sizes and NCCL's numeric settings stay. Pure.
class Redactor {
 public:
  Redactor(const RedactKey& key, const HostSnapshot& host);

  HostSnapshot snapshot() const;

  const AddressRedactor& addresses() const { return addresses_; }
  std::string device(const std::string& name) const { return names_.device(name); }
  /// NCCL_SOCKET_IFNAME and its like: ^, =, :port and commas stay.
  std::string name_list(std::string_view list) const;
  std::string variable(const std::string& name, const std::string& value) const;
  /// Words of free text that are addresses, devices, host names or paths are replaced.
  std::string words(std::string_view text) const;

 private:
  std::string word(std::string_view word) const;
  std::string path(std::string_view path) const;
  std::string host_or_address(std::string_view text) const;
  void scrub(Link& link) const;
  void scrub(Route& route) const;
  void scrub(RdmaDevice& device) const;

  const HostSnapshot& host_;
  RedactKey key_;
  AddressRedactor addresses_;
  NameRedactor names_;
  std::set<std::string, std::less<>> devices_;
};

}  // namespace topoguard
