// SPDX-License-Identifier: Apache-2.0
//
// What the processes of one test job tell each other outside NCCL, as files of a folder that all of them see (network
// namespaces share the file system).
#pragma once

#include <string>

namespace rig {

class Exchange {
 public:
  // `folder` must exist and be the job's own: names are used once.
  explicit Exchange(std::string folder) : folder_(std::move(folder)) {}

  // Makes `value` visible under `name`, all at once.
  void put(const std::string& name, const std::string& value) const;

  // Waits for `name` and returns its value. Throws std::runtime_error after two minutes: the other side is gone.
  std::string get(const std::string& name) const;

  // Returns when all `ranks` processes have come here under that name.
  void barrier(const std::string& name, int rank, int ranks) const;

 private:
  std::string folder_;
};

}  // namespace rig
