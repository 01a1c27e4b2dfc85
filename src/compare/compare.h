// SPDX-License-Identifier: Apache-2.0
// Many hosts of one job side by side: what differs and would hang or slow it. One pass: of each host only a digest of a
// few hundred bytes is kept. Not thread-safe; no system call.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compare/digest.h"
#include "topoguard/decision.h"
#include "topoguard/snapshot.h"

namespace topoguard {

struct HostsFinding {
  Finding finding;
  std::vector<std::string> hosts;  ///< those that differ from most; all concerned where no side is the larger
};

struct CompareResult {
  std::vector<std::string> hosts;      ///< in the order of adding, each name once
  std::vector<HostsFinding> findings;  ///< across hosts, by code
  std::vector<HostsFinding> own;       ///< each host's own, one host each; empty unless asked for
};

class Comparison {
 public:
  explicit Comparison(bool keep_own_findings = false);
  ~Comparison();
  Comparison(const Comparison&) = delete;
  Comparison& operator=(const Comparison&) = delete;

  /// A name that was already added gets "#2", "#3", ...
  void add(std::string name, const HostSnapshot& host, const Decision& decision);
  /// What another process has taken of its host by digest().
  void add(HostDigest digest);
  CompareResult finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The host's own name, else what it is called in `file` ("host-a.json" gives "host-a").
std::string host_name(const HostSnapshot& host, const std::string& file);

}  // namespace topoguard
