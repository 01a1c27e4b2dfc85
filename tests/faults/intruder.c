/* SPDX-License-Identifier: Apache-2.0
 * A library that nobody privileged may load: its constructor leaves a mark. It looks like a net plugin. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((visibility("default"))) const char* ncclNetPlugin_v11[64] = {"intruder"};

__attribute__((constructor)) static void mark(void) {
  const char* path = getenv("INTRUDER_MARK");
  const int fd = path != NULL ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666) : -1;
  if (fd >= 0) close(fd);
}
