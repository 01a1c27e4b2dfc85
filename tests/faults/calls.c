/* SPDX-License-Identifier: Apache-2.0
 * The functions that can fail: those that topoguard's library, libnl and hwloc import from libc. A new import that can
 * fail must be added here: tests/faults/imports compares. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "decide.h"
#include "inject.h"

#define EXPORT __attribute__((visibility("default")))
#define REAL(name)                                                       \
  __extension__({                                                        \
    static __typeof__(&name) real;                                       \
    if (real == NULL) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
    real;                                                                \
  })
#define DECIDE(path) faults_decide(FAULTS_CALLS, __func__, path, __builtin_return_address(0))
/* A function that returns no data: every fault is an error. */
#define FAILS(path) fails(DECIDE(path))

static int fails(int what) {
  if (what == 0) return 0;
  errno = what > 0 ? what : EIO;
  return 1;
}

static unsigned long turn;

static void fill(void* to, size_t size) {
  unsigned char* bytes = to;
  const unsigned long now = __atomic_add_fetch(&turn, 1, __ATOMIC_RELAXED);
  for (size_t i = 0; i < size; ++i) bytes[i] = (unsigned char)(faults_random(now * 4096 + i) >> 24);
}

static void flip(void* in, size_t size) {
  unsigned char* bytes = in;
  const unsigned long now = __atomic_add_fetch(&turn, 1, __ATOMIC_RELAXED);
  for (unsigned i = 0; i < 4 && size > 0; ++i) {
    const unsigned long drawn = faults_random(now * 4 + i);
    bytes[(drawn >> 8) % size] ^= (unsigned char)(1u << (drawn & 7));
  }
}

/* One transfer of bytes into `to`: `real` is the call with so many bytes of room. */
#define TRANSFER(to, room, real)                                                                          \
  do {                                                                                                    \
    const int what = DECIDE(NULL);                                                                        \
    if (what > 0) return errno = what, -1;                                                                \
    const size_t most = what == FAULTS_SHORT && (room) > 1 ? 1 : (room);                                  \
    if (what == FAULTS_GARBAGE) return fill(to, most < 64 ? most : 64), (ssize_t)(most < 64 ? most : 64); \
    const ssize_t got = real;                                                                             \
    if (what == FAULTS_FLIPPED && got > 0) flip(to, (size_t)got);                                         \
    return got;                                                                                           \
  } while (0)

EXPORT ssize_t read(int fd, void* to, size_t size) { TRANSFER(to, size, REAL(read)(fd, to, most)); }
EXPORT ssize_t pread64(int fd, void* to, size_t size, off64_t at) {
  TRANSFER(to, size, REAL(pread64)(fd, to, most, at));
}
EXPORT ssize_t recv(int fd, void* to, size_t size, int flags) { TRANSFER(to, size, REAL(recv)(fd, to, most, flags)); }

static ssize_t link_text(int what, char* to, size_t size, ssize_t got) {
  if (what == FAULTS_SHORT) return got > 1 ? 1 : got;
  if (what == FAULTS_GARBAGE) return fill(to, size < 64 ? size : 64), (ssize_t)(size < 64 ? size : 64);
  if (what == FAULTS_FLIPPED && got > 0) flip(to, (size_t)got);
  return got;
}
EXPORT ssize_t readlink(const char* path, char* to, size_t size) {
  const int what = DECIDE(path);
  if (what > 0) return errno = what, -1;
  return link_text(what, to, size, REAL(readlink)(path, to, size));
}
EXPORT ssize_t readlinkat(int at, const char* path, char* to, size_t size) {
  const int what = DECIDE(path);
  if (what > 0) return errno = what, -1;
  return link_text(what, to, size, REAL(readlinkat)(at, path, to, size));
}

EXPORT ssize_t recvmsg(int fd, struct msghdr* message, int flags) {
  const int what = DECIDE(NULL);
  if (what > 0) return errno = what, -1;
  const ssize_t got = REAL(recvmsg)(fd, message, flags);
  if (what == 0 || got <= 0 || message->msg_iovlen == 0) return got;
  const size_t room = message->msg_iov[0].iov_len;
  const size_t bytes = (size_t)got < room ? (size_t)got : room;
  if (what == FAULTS_SHORT) return (ssize_t)(bytes > 1 ? bytes / 2 : bytes);
  if (what == FAULTS_GARBAGE) fill(message->msg_iov[0].iov_base, bytes);
  if (what == FAULTS_FLIPPED) flip(message->msg_iov[0].iov_base, bytes);
  return got;
}

static struct dirent64* entry(int what, struct dirent64* real) {
  static __thread struct dirent64 odd;
  if (real == NULL || what == 0) return real;
  odd = *real;
  if (what == FAULTS_GARBAGE) fill(odd.d_name, 32), odd.d_name[32] = '\0';
  if (what == FAULTS_FLIPPED) flip(odd.d_name, strlen(odd.d_name));
  if (what == FAULTS_SHORT) odd.d_name[1] = '\0';
  odd.d_type = DT_UNKNOWN;
  return &odd;
}
EXPORT struct dirent64* readdir64(DIR* directory) {
  const int what = DECIDE(NULL);
  if (what > 0) return errno = what, NULL;
  return entry(what, REAL(readdir64)(directory));
}
EXPORT struct dirent* readdir(DIR* directory) { return (struct dirent*)readdir64(directory); }

EXPORT ssize_t write(int fd, const void* from, size_t size) {
  const int what = DECIDE(NULL);
  if (what > 0) return errno = what, -1;
  return REAL(write)(fd, from, what != 0 && size > 1 ? size / 2 : size);
}

#define MODE_OF(flags)                              \
  ({                                                \
    mode_t mode = 0;                                \
    if (((flags) & (O_CREAT | __O_TMPFILE)) != 0) { \
      va_list more;                                 \
      va_start(more, flags);                        \
      mode = va_arg(more, mode_t);                  \
      va_end(more);                                 \
    }                                               \
    mode;                                           \
  })
EXPORT int open(const char* path, int flags, ...) {
  const mode_t mode = MODE_OF(flags);
  return FAILS(path) ? -1 : REAL(open)(path, flags, mode);
}
EXPORT int open64(const char* path, int flags, ...) {
  const mode_t mode = MODE_OF(flags);
  return FAILS(path) ? -1 : REAL(open64)(path, flags, mode);
}
EXPORT int openat(int at, const char* path, int flags, ...) {
  const mode_t mode = MODE_OF(flags);
  return FAILS(path) ? -1 : REAL(openat)(at, path, flags, mode);
}
EXPORT int openat64(int at, const char* path, int flags, ...) {
  const mode_t mode = MODE_OF(flags);
  return FAILS(path) ? -1 : REAL(openat64)(at, path, flags, mode);
}
EXPORT FILE* fopen(const char* path, const char* how) { return FAILS(path) ? NULL : REAL(fopen)(path, how); }
EXPORT FILE* fopen64(const char* path, const char* how) { return FAILS(path) ? NULL : REAL(fopen64)(path, how); }
EXPORT FILE* fdopen(int fd, const char* how) { return FAILS(NULL) ? NULL : REAL(fdopen)(fd, how); }
EXPORT DIR* opendir(const char* path) { return FAILS(path) ? NULL : REAL(opendir)(path); }
EXPORT DIR* fdopendir(int fd) { return FAILS(NULL) ? NULL : REAL(fdopendir)(fd); }
EXPORT int access(const char* path, int how) { return FAILS(path) ? -1 : REAL(access)(path, how); }
EXPORT int faccessat(int at, const char* path, int how, int flags) {
  return FAILS(path) ? -1 : REAL(faccessat)(at, path, how, flags);
}
EXPORT int stat(const char* path, struct stat* to) { return FAILS(path) ? -1 : REAL(stat)(path, to); }
EXPORT int stat64(const char* path, struct stat64* to) { return FAILS(path) ? -1 : REAL(stat64)(path, to); }
EXPORT int lstat64(const char* path, struct stat64* to) { return FAILS(path) ? -1 : REAL(lstat64)(path, to); }
EXPORT int fstat(int fd, struct stat* to) { return FAILS(NULL) ? -1 : REAL(fstat)(fd, to); }
EXPORT int fstat64(int fd, struct stat64* to) { return FAILS(NULL) ? -1 : REAL(fstat64)(fd, to); }
EXPORT int fstatat(int at, const char* path, struct stat* to, int flags) {
  return FAILS(path) ? -1 : REAL(fstatat)(at, path, to, flags);
}
EXPORT int fstatat64(int at, const char* path, struct stat64* to, int flags) {
  return FAILS(path) ? -1 : REAL(fstatat64)(at, path, to, flags);
}
EXPORT int statvfs64(const char* path, struct statvfs64* to) { return FAILS(path) ? -1 : REAL(statvfs64)(path, to); }
EXPORT char* realpath(const char* path, char* to) { return FAILS(path) ? NULL : REAL(realpath)(path, to); }
EXPORT char* getcwd(char* to, size_t size) { return FAILS(NULL) ? NULL : REAL(getcwd)(to, size); }
EXPORT int rename(const char* from, const char* to) { return FAILS(from) ? -1 : REAL(rename)(from, to); }
EXPORT int unlink(const char* path) { return FAILS(path) ? -1 : REAL(unlink)(path); }
EXPORT int ftruncate64(int fd, off64_t size) { return FAILS(NULL) ? -1 : REAL(ftruncate64)(fd, size); }
EXPORT int flock(int fd, int how) { return FAILS(NULL) ? -1 : REAL(flock)(fd, how); }
EXPORT void* mmap(void* at, size_t size, int how, int flags, int fd, off_t from) {
  return FAILS(NULL) ? MAP_FAILED : REAL(mmap)(at, size, how, flags, fd, from);
}

/* The descriptor is gone, whatever close() says. */
EXPORT int close(int fd) {
  const int what = DECIDE(NULL);
  const int result = REAL(close)(fd);
  return fails(what) ? -1 : result;
}

EXPORT int socket(int family, int type, int protocol) {
  return FAILS(NULL) ? -1 : REAL(socket)(family, type, protocol);
}
EXPORT int bind(int fd, const struct sockaddr* to, socklen_t size) {
  return FAILS(NULL) ? -1 : REAL(bind)(fd, to, size);
}
EXPORT int connect(int fd, const struct sockaddr* to, socklen_t size) {
  return FAILS(NULL) ? -1 : REAL(connect)(fd, to, size);
}
EXPORT int getsockname(int fd, struct sockaddr* to, socklen_t* size) {
  return FAILS(NULL) ? -1 : REAL(getsockname)(fd, to, size);
}
EXPORT int getsockopt(int fd, int level, int name, void* to, socklen_t* size) {
  return FAILS(NULL) ? -1 : REAL(getsockopt)(fd, level, name, to, size);
}
EXPORT int setsockopt(int fd, int level, int name, const void* from, socklen_t size) {
  return FAILS(NULL) ? -1 : REAL(setsockopt)(fd, level, name, from, size);
}
EXPORT ssize_t sendmsg(int fd, const struct msghdr* message, int flags) {
  return FAILS(NULL) ? -1 : REAL(sendmsg)(fd, message, flags);
}
EXPORT ssize_t sendto(int fd, const void* from, size_t size, int flags, const struct sockaddr* to, socklen_t length) {
  return FAILS(NULL) ? -1 : REAL(sendto)(fd, from, size, flags, to, length);
}
EXPORT int poll(struct pollfd* list, nfds_t count, int wait) {
  return FAILS(NULL) ? -1 : REAL(poll)(list, count, wait);
}
EXPORT int ioctl(int fd, unsigned long request, ...) {
  va_list more;
  va_start(more, request);
  void* const argument = va_arg(more, void*);
  va_end(more);
  return FAILS(NULL) ? -1 : REAL(ioctl)(fd, request, argument);
}
EXPORT int getaddrinfo(const char* node, const char* service, const struct addrinfo* hints, struct addrinfo** out) {
  const int what = DECIDE(node);
  if (what == 0) return REAL(getaddrinfo)(node, service, hints, out);
  return what == ENOMEM ? EAI_MEMORY : what == EAGAIN ? EAI_AGAIN : EAI_FAIL;
}
EXPORT unsigned if_nametoindex(const char* name) { return FAILS(name) ? 0 : REAL(if_nametoindex)(name); }
EXPORT int gethostname(char* to, size_t size) { return FAILS(NULL) ? -1 : REAL(gethostname)(to, size); }
EXPORT int uname(struct utsname* to) { return FAILS(NULL) ? -1 : REAL(uname)(to); }
EXPORT int getrlimit64(__rlimit_resource_t which, struct rlimit64* to) {
  return FAILS(NULL) ? -1 : REAL(getrlimit64)(which, to);
}
EXPORT int sched_getaffinity(pid_t thread, size_t size, cpu_set_t* to) {
  return FAILS(NULL) ? -1 : REAL(sched_getaffinity)(thread, size, to);
}
EXPORT int sched_setaffinity(pid_t thread, size_t size, const cpu_set_t* to) {
  return FAILS(NULL) ? -1 : REAL(sched_setaffinity)(thread, size, to);
}
EXPORT int nanosleep(const struct timespec* time, struct timespec* left) {
  return FAILS(NULL) ? -1 : REAL(nanosleep)(time, left);
}
EXPORT int sigtimedwait(const sigset_t* set, siginfo_t* info, const struct timespec* time) {
  return FAILS(NULL) ? -1 : REAL(sigtimedwait)(set, info, time);
}

/* The loader's own words for a failure: dlerror() has them only where it has failed itself. */
EXPORT void* dlopen(const char* path, int how) {
  return DECIDE(path) != 0 ? REAL(dlopen)("/nonexistent/faults", RTLD_NOW) : REAL(dlopen)(path, how);
}
EXPORT int dladdr(const void* address, Dl_info* info) { return DECIDE(NULL) != 0 ? 0 : REAL(dladdr)(address, info); }
