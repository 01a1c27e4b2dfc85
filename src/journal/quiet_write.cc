// SPDX-License-Identifier: Apache-2.0
#include "journal/quiet_write.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace topoguard::journal {

Written quiet_write(int fd, std::string_view bytes) noexcept {
  const int saved = errno;
  sigset_t ours, before, pending;
  sigemptyset(&ours);
  sigaddset(&ours, SIGPIPE);
  sigaddset(&ours, SIGXFSZ);
  sigemptyset(&pending);
  sigpending(&pending);
  // One that waits already is not ours to take, and another of it changes nothing.
  for (const int signal : {SIGPIPE, SIGXFSZ})
    if (sigismember(&pending, signal) == 1) sigdelset(&ours, signal);
  const bool held = pthread_sigmask(SIG_BLOCK, &ours, &before) == 0;

  Written written;
  for (;;) {
    const ssize_t got = ::write(fd, bytes.data(), bytes.size());
    if (got >= 0) {
      written.bytes = static_cast<std::size_t>(got);
      written.error = 0;
      break;
    }
    written.error = errno;
    if (written.error != EINTR) break;
  }

  if (held) {
    const timespec now{};
    while (sigtimedwait(&ours, nullptr, &now) > 0 || errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  errno = saved;
  return written;
}

}  // namespace topoguard::journal
