// SPDX-License-Identifier: Apache-2.0
// What the two ends of a benchmark tell each other beside the data: JSON documents over one TCP connection, in the
// frames of src/check. Calls wait; none longer than its patience. Whatever the other side sends that is not such a
// document ends the benchmark. Errors are std::runtime_error. Not thread-safe.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "check/frame.h"
#include "host/file.h"

namespace topoguard::bench {

class Wire {
 public:
  /// Waits for one other side on HOST:PORT; an empty HOST is every address of this one.
  static Wire listen(const std::string& where, double patience);
  /// Connects, trying again until somebody listens there.
  static Wire connect(const std::string& where, double patience);

  void send(const nlohmann::json& message);
  nlohmann::json receive(double patience);

 private:
  explicit Wire(host::Fd fd) : fd_(std::move(fd)) {}
  host::Fd fd_;
  check::FrameReader reader_{kMost};
  static constexpr std::size_t kMost = std::size_t{32} << 20;  // a sample's round trips
};

}  // namespace topoguard::bench
