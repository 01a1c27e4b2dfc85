// SPDX-License-Identifier: Apache-2.0
//
// The steps of the rank program: what it can be told to do with NCCL, in any order.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "exchange.h"
#include "nccl_library.h"

namespace rig {

struct Place {
  int rank = 0;
  int ranks = 2;
  int device = 0;
};

class Communicators {
 public:
  Communicators(NcclLibrary& library, Exchange exchange, Place place);

  // Runs one step, "NAME" or "NAME:ARGUMENT"; the names are in steps() with one line on each. Returns what the step has
  // to report besides; throws std::runtime_error with NCCL's result where it failed, std::invalid_argument for an
  // unknown step.
  nlohmann::json run(const std::string& step);

  static std::string help();

 private:
  UniqueId agree_on_id(int number);
  Communicator* init(int id_number, bool with_config);
  nlohmann::json init_one(bool with_config);
  nlohmann::json init_from_threads(int count);
  nlohmann::json init_all(int count);
  nlohmann::json split(bool share);
  nlohmann::json all_reduce();
  nlohmann::json end(bool abort, bool all);
  nlohmann::json cycles(int count);
  nlohmann::json reload();
  nlohmann::json hold(const std::string& name);

  NcclLibrary& library_;
  Exchange exchange_;
  Place place_;
  int next_id_ = 0;
  int next_barrier_ = 0;
  std::vector<Communicator*> open_;
};

}  // namespace rig
