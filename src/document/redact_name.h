// SPDX-License-Identifier: Apache-2.0
// Device and host names replaced so that what NCCL makes of them stays: equal names stay equal, one that is a prefix of
// another still is, and beginnings that mean something (eth, ib, docker, mlx5_, ...) stay.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/redact_key.h"

namespace topoguard {

class NameRedactor {
 public:
  /// tokens: the entries of user-set name lists, which may be short prefixes of usual names ("e", "mlx").
  NameRedactor(const RedactKey& key, const std::vector<std::string>& tokens);

  /// Usual names (eth0, enp3s0f1, mlx5_0, br-<hex>) stay; of others the letters after a usual beginning change, digits
  /// and punctuation stay. Never longer than before.
  std::string device(std::string_view name) const;
  /// "host-4f2a91": each label of a domain name by itself, so that short and full names still agree.
  std::string host(std::string_view name) const;

 private:
  RedactKey key_;
  std::vector<std::string> beginnings_;  ///< longest first
};

/// The beginnings of device names that kernel, systemd, containers and drivers give.
bool usual_device_name(std::string_view name);

}  // namespace topoguard
