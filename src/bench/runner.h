// SPDX-License-Identifier: Apache-2.0
// Who runs samples: both ends in one thread of this process, or this process as one end and another one, on this host
// or another, as the other. Errors are std::runtime_error.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/net.h"
#include "bench/plan.h"
#include "bench/wire.h"

namespace topoguard::bench {

class Runner {
 public:
  virtual ~Runner() = default;
  /// One sample over the net of that number (in the order in which they were opened).
  virtual Sample run(std::size_t net, const Plan& plan) = 0;
};

using Nets = std::vector<std::unique_ptr<Net>>;

std::unique_ptr<Runner> run_here(Nets& nets);

/// The other process must serve() nets of the same kinds in the same order.
std::unique_ptr<Runner> run_with(Nets& nets, Wire wire);

/// The other end: does what run_with() asks for, until it has had enough.
void serve(Nets& nets, Wire wire);

}  // namespace topoguard::bench
