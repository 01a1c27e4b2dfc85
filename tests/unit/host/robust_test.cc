// SPDX-License-Identifier: Apache-2.0
// Whatever is taken away from it, collect returns: without descriptors, without memory, under seccomp, without /sys and
// /proc, and on any bytes from the kernel.
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <new>

#include "host/collect.h"
#include "messages.h"
#include "render.h"
#include "tree.h"

namespace {
thread_local long allocations_left = -1;  // -1: as many as you like
}

void* operator new(std::size_t size) {
  if (allocations_left == 0) throw std::bad_alloc();
  if (allocations_left > 0) --allocations_left;
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace topoguard::test {
namespace {

// Exit status of `body` in a child; 77 = could not be set up.
int in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

bool noted(const HostSnapshot& out, const std::string& source) {
  return std::any_of(out.notes.begin(), out.notes.end(),
                     [&](const std::string& note) { return note.compare(0, source.size() + 1, source + ":") == 0; });
}

// Refuses system call `number` (with first argument `argument`, or any where -1) with EPERM.
bool refuse(int number, int argument) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0,
               static_cast<unsigned char>(argument < 0 ? 1 : 3)),
      argument < 0 ? sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
                   : sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      argument < 0 ? sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
                   : sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(argument), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(filter)), filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

std::size_t entries(const char* directory) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(directory), std::filesystem::directory_iterator()));
}

}  // namespace

TEST_CASE("no descriptor, no thread, errno untouched") {
  collect({}, {});
  const std::size_t files = entries("/proc/self/fd"), threads = entries("/proc/self/task");
  errno = 4242;
  const HostSnapshot out = collect({}, {});
  CHECK(errno == 4242);
  CHECK(entries("/proc/self/fd") == files);
  CHECK(entries("/proc/self/task") == threads);
  CHECK(out.links);
  CHECK(out.process.cpus_allowed);
}

TEST_CASE("out of descriptors") {
  CHECK(in_child([] {
          const rlimit none{0, 0};
          ::setrlimit(RLIMIT_NOFILE, &none);
          const HostSnapshot out = collect({}, {});
          return (!out.links ? 0 : 1) | (noted(out, "links") ? 0 : 2) | (!out.rdma ? 0 : 4) | (!out.numa ? 0 : 8) |
                 (out.process.cpus_allowed ? 0 : 16);
        }) == 0);
}

TEST_CASE("netlink refused by seccomp") {
  CHECK(in_child([] {
          if (!refuse(SYS_socket, AF_NETLINK)) return 77;
          const HostSnapshot out = collect({}, {});
          return (!out.links ? 0 : 1) | (noted(out, "links") ? 0 : 2) | (!out.routes ? 0 : 4) |
                 (noted(out, "routes") ? 0 : 8) | (out.process.cpus_allowed ? 0 : 16);
        }) == 0);
}

TEST_CASE("opening files refused by seccomp") {
  CHECK(in_child([] {
          if (!refuse(SYS_openat, -1)) return 77;
          const HostSnapshot out = collect({}, {});
          return (out.links ? 0 : 1) | (!out.rdma ? 0 : 2) | (noted(out, "rdma") ? 0 : 4) |
                 (!out.pci && !out.gpus ? 0 : 8) | (noted(out, "numa") ? 0 : 16);
        }) == 0);
}

TEST_CASE("sched_getaffinity refused by seccomp: procfs tells") {
  CHECK(in_child([] {
          if (!refuse(SYS_sched_getaffinity, -1)) return 77;
          return collect({}, {}).process.cpus_allowed ? 0 : 1;
        }) == 0);
}

TEST_CASE("no /sys and no /proc") {
  if (::geteuid() != 0) {
    WARN("skipped: needs root to hide them");
    return;
  }
  const int status = in_child([] {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", "", MS_REC | MS_PRIVATE, nullptr) != 0) return 77;
    if (::mount("none", "/sys", "tmpfs", 0, nullptr) != 0 || ::mount("none", "/proc", "tmpfs", 0, nullptr) != 0)
      return 77;
    const HostSnapshot out = collect({}, {});
    return (out.links ? 0 : 1) | (!out.rdma ? 0 : 2) | (!out.pci && !out.gpus ? 0 : 4) |
           (!out.numa && noted(out, "numa") ? 0 : 8) |
           (out.process.cpus_allowed && !out.process.mems_allowed ? 0 : 16) |
           (noted(out, "process") && noted(out, "rdma") ? 0 : 32);
  });
  if (status == 77)
    WARN("skipped: mounts are not allowed here");
  else
    CHECK(status == 0);
}

TEST_CASE("every allocation may fail") {
  const TempDir directory;
  const Sources sources = unpack(slurp(hosts_directory() + "/sysfs/roce-gid-types/tree.txt"), directory.path());
  const std::string whole = render(collect(sources, {}));
  bool complete = false;
  int failures = 0;
  for (long count = 0; count < 100000 && !complete; count += count < 300 ? 1 : 37) {
    allocations_left = count;
    const HostSnapshot out = collect(sources, {});
    complete = allocations_left > 0;
    allocations_left = -1;
    if (!complete)
      ++failures;
    else
      CHECK(render(out) == whole);
  }
  CHECK(complete);
  CHECK(failures > 300);
}

TEST_CASE("any bytes from netlink") {
  const TempDir directory;
  const Sources sources = unpack(slurp(hosts_directory() + "/sysfs/link-kinds/tree.txt"), directory.path());
  std::srand(11);
  for (const char* file : {"link.nl", "addr.nl", "route4.nl", "route6.nl"}) {
    const std::string path = sources.netlink + "/" + file, good = slurp(path);
    for (std::size_t length = 0; length < good.size(); length += 61) {
      write_file(path, good.substr(0, length));
      const HostSnapshot out = collect(sources, {});
      // A dump without its end is no dump: links are unknown then, not few.
      if (std::string(file) == "link.nl") CHECK_FALSE(out.links);
    }
    for (int i = 0; i < 150; ++i) {
      std::string bad = good;
      for (int k = 0; k < 6; ++k)
        bad[static_cast<std::size_t>(std::rand()) % bad.size()] = static_cast<char>(std::rand());
      write_file(path, bad);
      collect(sources, {});
    }
    write_file(path, good);
  }
  SUCCEED();
}

}  // namespace topoguard::test
