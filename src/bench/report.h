// SPDX-License-Identifier: Apache-2.0
// A benchmark's result as a table for people and as the document topoguard.bench/1. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "bench/measure.h"
#include "bench/net.h"

namespace topoguard::bench {

struct NetSeen {
  std::string source;  ///< as it was named: "Socket", "topoguard", a path
  std::string name;    ///< what the table calls itself
  int api = 0;
  std::vector<NetDevice> devices;
};

struct Result {
  std::string nccl_path, nccl_release;
  std::vector<NetSeen> nets;
  bool same_functions = false;  ///< of two nets: isend, irecv, iflush and test are the same pointers
  bool two_processes = false;
  Request request;
  std::vector<Row> rows;
  double load = 0;  ///< the machine's load average of the last minute, at the end
  int processors = 0;
};

std::string bench_text(const Result& result);
std::string bench_json(const Result& result);

}  // namespace topoguard::bench
