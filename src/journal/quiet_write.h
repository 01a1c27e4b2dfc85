// SPDX-License-Identifier: Apache-2.0
// write(2) that cannot hurt the process it runs in: a closed pipe (SIGPIPE) or a file beyond the limit on file sizes
// (SIGXFSZ) are errors, whatever the process does with these signals.
#pragma once

#include <string_view>

namespace topoguard::journal {

struct Written {
  std::size_t bytes = 0;
  int error = 0;  ///< errno of the call that did not write; 0 where a call wrote, be it less than asked
};

/// One call, again only where a signal came before its first byte. The kernel sends both signals to the calling thread
/// (fs/pipe.c, fs/read_write.c generic_write_check_limits), so holding them back here and taking them away leaves the
/// process as it was; one that was pending before stays. errno is kept. Any thread.
Written quiet_write(int fd, std::string_view bytes) noexcept;

}  // namespace topoguard::journal
