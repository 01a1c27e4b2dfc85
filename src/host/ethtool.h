// SPDX-License-Identifier: Apache-2.0
// Two questions to the ethtool ioctl (linux/ethtool.h), in the calling thread's network namespace. One socket for many
// links, closed with the object. Not thread-safe; make one per collection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "host/file.h"

namespace topoguard::host {

class Ethtool {
 public:
  Ethtool();
  /// False where no socket can be made (seccomp, no descriptors): every answer is empty then.
  bool works() const { return static_cast<bool>(socket_); }
  /// Mb/s; empty where the driver does not tell or the link is down.
  std::optional<std::int64_t> speed_mbps(const std::string& ifname) const;
  std::optional<std::string> driver(const std::string& ifname) const;

 private:
  Fd socket_;
};

}  // namespace topoguard::host
